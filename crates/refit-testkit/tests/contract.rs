//! The implementations in memory keep the contracts of their ports.

use refit_engine::ports::{Forge, Repository};
use refit_testkit::contract::{Place, forge, forge::Site, repository, start};
use refit_testkit::memory::Memory;
use refit_testkit::memory_forge::MemoryForge;

struct InMemory(Memory, MemoryForge);

impl InMemory {
    fn fresh() -> Self {
        let memory = Memory::new("main", &start());
        Self(memory.clone(), MemoryForge::new(memory))
    }
}

impl Place for InMemory {
    fn open(&self) -> Box<dyn Repository + Send> {
        Box::new(self.0.clone())
    }
}

impl Site for InMemory {
    fn with_forge(&self, check: &dyn Fn(&dyn Forge)) {
        check(&self.1.clone());
    }
}

#[test]
fn the_repository_in_memory_keeps_the_contract() {
    repository::check(&|| Box::new(InMemory::fresh()));
}

#[test]
fn the_forge_in_memory_keeps_the_contract() {
    forge::check(&|| Box::new(InMemory::fresh()));
}
