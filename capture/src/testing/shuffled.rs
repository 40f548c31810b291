//! The same rows as if they had arrived and been interned in another order.

use super::Rng;
use crate::model::for_each_table;
use crate::table::Table;
use crate::{Column, Strings, TableKind, Tables};

/// Rows that mean what `tables` mean: every table in another order, with unused dictionary rows between.
///
/// Stacks and processes stay behind their parents, and probe records of one thread in their order.
#[must_use]
pub fn shuffled(tables: &Tables, seed: u64) -> Tables {
    let mut rng = Rng::new(seed);
    let mut shuffled = tables.clone();
    shuffle_strings(&mut shuffled, &mut rng);
    let stacks = behind(&mut rng, &[&bits(&shuffled.stacks.parent)]);
    let processes = &shuffled.processes;
    let processes = behind(&mut rng, &[&bits(&processes.parent), &bits(&processes.exec_of)]);
    macro_rules! shuffle_each {
        ($($field:ident: $type:ty,)*) => {$(
            let order = match <$type>::KIND {
                TableKind::Stacks => stacks.clone(),
                TableKind::Processes => processes.clone(),
                TableKind::ProbeRecords => (0..shuffled.probe_records.len() as u32).collect(),
                _ => permutation(&mut rng, Table::len(&shuffled.$field)),
            };
            shuffled.$field = shuffled.$field.gather(&order);
            shuffled.renumber(<$type>::KIND, &inverse(&order));
        )*};
    }
    for_each_table!(shuffle_each);
    shuffled
}

/// Shuffles strings, each with an unused one before it.
fn shuffle_strings(tables: &mut Tables, rng: &mut Rng) {
    let texts: Vec<String> = tables.strings.iter().map(str::to_owned).collect();
    let (mut strings, mut numbers) = (Strings::default(), vec![0; texts.len()]);
    for row in permutation(rng, texts.len()).into_iter().filter(|row| *row != 0) {
        strings.push(&format!("unused {row}"));
        numbers[row as usize] = strings.push(&texts[row as usize]).get();
    }
    tables.strings = strings;
    tables.renumber(TableKind::Strings, &numbers);
}

fn permutation(rng: &mut Rng, rows: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..rows as u32).collect();
    for row in (1..rows).rev() {
        order.swap(row, rng.below(row as u64 + 1) as usize);
    }
    order
}

fn inverse(order: &[u32]) -> Vec<u32> {
    let mut numbers = vec![0; order.len()];
    for (number, row) in (0..).zip(order) {
        numbers[*row as usize] = number;
    }
    numbers
}

/// Optional ids of earlier rows: 0 is none, `n + 1` is row `n`.
fn bits<Id: Column>(ids: &[Option<Id>]) -> Vec<u64> {
    ids.iter().map(|id| id.to_bits()).collect()
}

/// A random order in which every row stands behind the rows it names.
fn behind(rng: &mut Rng, earlier: &[&Vec<u64>]) -> Vec<u32> {
    let rows = earlier.first().map_or(0, |ids| ids.len());
    let mut placed = vec![false; rows];
    let mut order = Vec::new();
    while order.len() < rows {
        for row in permutation(rng, rows) {
            let ready = earlier.iter().all(|ids| match ids[row as usize] {
                0 => true,
                number => placed[number as usize - 1],
            });
            if ready && !placed[row as usize] {
                placed[row as usize] = true;
                order.push(row);
            }
        }
    }
    order
}
