//! Stacks as formats without inline chains want them: every level of every frame is a node of its own.

use std::borrow::Cow;

use microscope_capture::{FrameId, ModuleId, StackId, Tables};

use crate::ask::Question;
use crate::facts::FactIndex;
use crate::keys::KeyId;

/// A level of a frame, in a stack.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Node {
    /// The frame.
    pub(super) frame: FrameId,
    /// The level in the frame: 0 is the innermost inlined function.
    pub(super) level: u32,
    /// The node that called it.
    pub(super) parent: Option<u32>,
}

/// What a level says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Text<'c> {
    pub(super) name: Cow<'c, str>,
    /// The file of the executed line, else of the declaration, or empty.
    pub(super) file: &'c str,
    /// The line executed, or 0.
    pub(super) line: u32,
    /// Where the function is declared, or 0.
    pub(super) declared: u32,
    pub(super) module: Option<ModuleId>,
}

/// The nodes of all stacks. Numbers ascend from the outside in, so a parent's is the smaller one.
pub(super) struct Levels<'q, 'c> {
    question: &'q Question<'c>,
    facts: FactIndex,
    /// By stack: the number of its first node. One longer than the stacks.
    first: Vec<u32>,
    /// By stack: its innermost node, or that of the nearest caller that has one.
    innermost: Vec<Option<u32>>,
}

impl<'q, 'c> Levels<'q, 'c> {
    pub(super) fn new(question: &'q Question<'c>) -> Self {
        let tables = question.tables;
        let (mut first, mut innermost) = (vec![0], Vec::<Option<u32>>::new());
        let mut next = 0_u32;
        for (_, row) in tables.stacks.iter() {
            let levels = u32::try_from(question.keys.of(row.frame).len()).unwrap_or(u32::MAX);
            next = next.saturating_add(levels);
            first.push(next);
            let outer = row.parent.and_then(|parent| innermost[parent.index()]);
            innermost.push(if levels == 0 { outer } else { Some(next - 1) });
        }
        Self { question, facts: FactIndex::new(tables), first, innermost }
    }

    /// Where samples of `stack` end.
    pub(super) fn innermost(&self, stack: StackId) -> Option<u32> {
        self.innermost[stack.index()]
    }

    /// The nodes of the innermost frame of `stack`, outermost level first.
    pub(super) fn of_stack(&self, stack: StackId) -> impl Iterator<Item = (u32, Node)> + '_ {
        let row = self.question.tables.stacks.row(stack);
        let (first, end) = (self.first[stack.index()], self.first[stack.index() + 1]);
        let outer = row.parent.and_then(|parent| self.innermost(parent));
        (first..end).map(move |number| {
            let parent = if number == first { outer } else { Some(number - 1) };
            (number, Node { frame: row.frame, level: end - 1 - number, parent })
        })
    }

    /// The function key of a level.
    pub(super) fn key(&self, node: Node) -> KeyId {
        self.question.keys.of(node.frame)[node.level as usize]
    }

    /// The outermost level of a node's frame: the function that has the code.
    pub(super) fn physical_level(&self, node: Node) -> u32 {
        u32::try_from(self.question.keys.of(node.frame).len() - 1).unwrap_or(u32::MAX)
    }

    /// What a level says.
    pub(super) fn text(&self, node: Node) -> Text<'c> {
        let tables: &'c Tables = self.question.tables;
        let key = self.question.keys.key(tables, self.key(node));
        let fact = self.facts.rows(node.frame).get(node.level as usize).map(|row| *row as usize);
        let executed = fact.and_then(|row| tables.facts.file[row]);
        let file = executed.map(|id| tables.strings.get(tables.files.path[id.index()])).or(key.file);
        Text {
            name: key.name,
            file: file.unwrap_or(""),
            line: fact.map_or(0, |row| tables.facts.line[row]),
            declared: key.line.unwrap_or(0),
            module: tables.frames.module[node.frame.index()],
        }
    }
}
