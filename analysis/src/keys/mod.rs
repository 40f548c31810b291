//! Maps frames to dense keys at a chosen granularity, once per query, so that views only add integers.

mod identity;
mod text;

use microscope_capture::{FrameId, Tables};
use rustc_hash::FxHashMap;

use crate::Granularity;
use crate::facts::FactIndex;
pub(crate) use identity::Identity;
use identity::Namer;
pub use text::{Key, KeyKind};

/// A dense number of a key within one [`KeyMap`].
pub(crate) type KeyId = u32;

/// The keys of every frame.
#[derive(Debug, Clone)]
pub(crate) struct KeyMap {
    /// By frame: where its keys begin in `keys`. One longer than the frames.
    starts: Vec<u32>,
    /// Innermost level first.
    keys: Vec<KeyId>,
    /// By key.
    identities: Vec<Identity>,
    by: Granularity,
}

impl KeyMap {
    /// The keys of all frames of `tables`.
    pub(crate) fn new(tables: &Tables, by: Granularity) -> Self {
        let facts = FactIndex::new(tables);
        let namer = Namer::new(tables, by);
        let mut interner = Interner::new(tables);
        let mut map = Self { starts: vec![0], keys: Vec::new(), identities: Vec::new(), by };
        for frame in tables.frames.ids() {
            namer.each_identity(frame, &facts, |identity| map.keys.push(interner.key(identity)));
            map.starts.push(u32::try_from(map.keys.len()).unwrap_or(u32::MAX));
        }
        map.identities = interner.identities;
        map
    }

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        self.identities.len()
    }

    /// `frame`'s keys, innermost level first; none for frames that the look drops.
    #[inline]
    pub(crate) fn of(&self, frame: FrameId) -> &[KeyId] {
        &self.keys[self.starts[frame.index()] as usize..self.starts[frame.index() + 1] as usize]
    }

    /// Whether neighbors of one key in a path are one step.
    pub(crate) fn joins_neighbors(&self) -> bool {
        self.by == Granularity::Module
    }

    /// What a key stands for.
    pub(crate) fn identity(&self, key: KeyId) -> Identity {
        self.identities[key as usize]
    }

    /// The keys' order where costs are equal: by what they say, never by their number.
    pub(crate) fn compare(&self, tables: &Tables, a: KeyId, b: KeyId) -> std::cmp::Ordering {
        if a == b { std::cmp::Ordering::Equal } else { self.identity(a).compare(tables, self.identity(b)) }
    }

    /// A key as results show it.
    pub(crate) fn key<'c>(&self, tables: &'c Tables, key: KeyId) -> Key<'c> {
        Key::new(tables, self.identity(key))
    }
}

struct Interner {
    identities: Vec<Identity>,
    /// By function id: its key, or [`KeyId::MAX`]. Most identities are functions.
    functions: Vec<KeyId>,
    others: FxHashMap<Identity, KeyId>,
}

impl Interner {
    fn new(tables: &Tables) -> Self {
        let functions = vec![KeyId::MAX; tables.functions.len()];
        Self { identities: Vec::new(), functions, others: FxHashMap::default() }
    }

    fn key(&mut self, identity: Identity) -> KeyId {
        let next = KeyId::try_from(self.identities.len()).unwrap_or(KeyId::MAX);
        let key = match identity {
            Identity::Function(id) => &mut self.functions[id.index()],
            other => self.others.entry(other).or_insert(KeyId::MAX),
        };
        if *key == KeyId::MAX {
            *key = next;
            self.identities.push(identity);
        }
        *key
    }
}
