//! Two upgrades of one cluster to different releases that start at the same moment.

use std::cell::RefCell;

use refit_engine::Others;
use refit_engine::ports::{ChangeRequest, CommitId, Draft, Forge, PortError, RequestState};
use refit_testkit::memory_forge::MemoryForge;

use crate::world::{World, ask, told};

/// A forge where something happens between the last look of a flow and its request.
struct Between<'a> {
    forge: &'a MemoryForge,
    meanwhile: RefCell<Option<Box<dyn FnOnce() + 'a>>>,
}

impl<'a> Between<'a> {
    fn new(forge: &'a MemoryForge, meanwhile: impl FnOnce() + 'a) -> Self {
        Self {
            forge,
            meanwhile: RefCell::new(Some(Box::new(meanwhile))),
        }
    }
}

impl Forge for Between<'_> {
    fn list(&self) -> Result<Vec<ChangeRequest>, PortError> {
        self.forge.list()
    }
    fn open(&self, draft: &Draft) -> Result<ChangeRequest, PortError> {
        if let Some(meanwhile) = self.meanwhile.take() {
            meanwhile();
        }
        self.forge.open(draft)
    }
    fn update(&self, number: u64, draft: &Draft) -> Result<ChangeRequest, PortError> {
        self.forge.update(number, draft)
    }
    fn merge(&self, number: u64, head: &CommitId) -> Result<ChangeRequest, PortError> {
        self.forge.merge(number, head)
    }
    fn close(&self, number: u64) -> Result<ChangeRequest, PortError> {
        self.forge.close(number)
    }
}

fn upgrade(world: &World, forge: &dyn Forge, target: &str, others: Others) -> String {
    told(world.run_through(&world.repository, forge, &world.releases, |ports| {
        let prepared = refit_engine::plan(ports, &ask(target))?;
        let reports = refit_engine::carry_out(ports, &prepared, others)?;
        Ok((reports.exit().code(), crate::world::message(&reports)))
    }))
}

/// Runs an upgrade to v7.1.1 that another to v7.1.2 overtakes, and gives both answers and the states of the requests.
fn overtaken(others: Others) -> (String, String, Vec<(u64, RequestState)>) {
    let mut world = World::new(|text| text);
    for version in ["v7.1.1", "v7.1.2"] {
        let text = crate::world::manifest(version, &["v1beta2", "v1"]);
        world.releases.add(refit_testkit::releases::ReleaseFile {
            platform: "flux",
            version,
            name: "g.yaml",
            text: &text,
        });
    }
    let world = world;
    let first = RefCell::new(String::new());
    let slow = Between::new(&world.forge, || {
        *first.borrow_mut() = upgrade(&world, &world.forge, "flux@v7.1.2", others);
    });
    let second = upgrade(&world, &slow, "flux@v7.1.1", others);
    let requests = world.forge.list().unwrap();
    let states = requests.iter().map(|request| (request.number, request.state)).collect();
    (first.take(), second, states)
}

#[test]
fn the_later_of_two_requests_is_closed_by_the_run_that_opened_it() {
    for others in [Others::Stop, Others::Supersede] {
        let (first, second, states) = overtaken(others);
        assert!(first.starts_with("6 request 1 waits for review:"), "{first}");
        let expected: &[(u64, RequestState)] = match others {
            Others::Stop => {
                assert_eq!(second, "4 request 1 is open and leads to v7.1.2, another release");
                &[(2, RequestState::Closed), (1, RequestState::Open)]
            }
            // Whoever supersedes yields first, then sees the other as one to close, and opens its own again.
            Others::Supersede => {
                assert!(second.starts_with("6 request 3 waits for review:"), "{second}");
                &[
                    (3, RequestState::Open),
                    (2, RequestState::Closed),
                    (1, RequestState::Closed),
                ]
            }
        };
        assert_eq!(states, expected);
    }
}
