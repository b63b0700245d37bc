//! A model that says anything a model may say, and some things it may not.

use std::rc::Rc;

use futures::stream::LocalBoxStream;
use pagehand::protocol::{FinishReason, ModelError, ModelErrorKind, ModelEvent, ModelRequest};

use crate::host::stream_of;
use crate::tools::TOOLS;
use crate::world::World;

/// Its answer to a request, piece by piece.
pub(crate) fn answer(world: &Rc<World>, request: &ModelRequest) -> LocalBoxStream<'static, ModelEvent> {
    let asked = world.model_calls.get() + 1;
    world.model_calls.set(asked);
    let mut events = vec![ModelEvent::Start];
    if world.choices.once_in(4) {
        events.extend([
            ModelEvent::ReasoningStart,
            ModelEvent::ReasoningDelta("hm".into()),
            ModelEvent::ReasoningEncrypted(format!("sealed {asked}")),
            ModelEvent::ReasoningEnd,
        ]);
    }
    let in_form = request.output.is_some() && asked.is_multiple_of(2);
    let count = request.messages.len();
    let (head, tail) = if in_form { ("{\"n\": ", format!("{count}}}")) } else { ("So ", format!("{count}.")) };
    events.extend([
        ModelEvent::TextStart,
        ModelEvent::TextDelta(head.into()),
        ModelEvent::TextDelta(tail),
        ModelEvent::TextEnd,
    ]);
    let calls = if world.faults.get() { [0, 1, 1, 2, 3, 5][world.choices.pick(6) as usize] } else { 0 };
    for slot in 0..calls {
        call(world, asked, slot, &mut events);
    }
    events.push(ModelEvent::Finish(match calls {
        _ if world.fault(20) => FinishReason::Refused("no".into()),
        0 => FinishReason::Done,
        _ => FinishReason::Calls,
    }));
    if world.fault(8) {
        // The connection is lost somewhere.
        events.truncate(world.choices.pick(events.len() as u32) as usize);
    } else if world.fault(16) {
        let at = world.choices.pick(events.len() as u32) as usize;
        let kind = [ModelErrorKind::Network, ModelErrorKind::BadRequest, ModelErrorKind::Upstream]
            [world.choices.pick(3) as usize];
        events.truncate(at);
        events.push(ModelEvent::Error(ModelError::new(kind, "it failed")));
    } else if world.fault(24) {
        // It falls silent, and keeps the line open.
        events.truncate(world.choices.pick(events.len() as u32) as usize);
        return stream_of(world, events, false);
    }
    stream_of(world, events, true)
}

fn call(world: &Rc<World>, asked: u32, slot: usize, events: &mut Vec<ModelEvent>) {
    let at = world.choices.pick(TOOLS.len() as u32 + 1) as usize;
    let name = TOOLS.get(at).map_or("no_such_tool", |tool| tool.0).to_owned();
    // Some servers give no ids, some number the calls of each answer from 0.
    let id = match world.choices.pick(4) {
        0 => Some(format!("call_{asked}_{slot}")),
        1 => None,
        2 => Some(format!("{slot}")),
        _ => Some(format!("call_{asked}_0")),
    };
    let arguments = match world.choices.pick(10) {
        8 => "{\"n\": \"one\"}".to_owned(),
        9 => "{\"n\": 1".to_owned(),
        _ => format!("{{\"n\": {}}}", asked * 10 + slot as u32),
    };
    events.push(ModelEvent::CallStart { slot, id, name });
    let (head, tail) = arguments.split_at(arguments.len() / 2);
    events.push(ModelEvent::CallDelta { slot, text: head.to_owned() });
    events.push(ModelEvent::CallDelta { slot, text: tail.to_owned() });
    events.push(ModelEvent::CallEnd { slot });
    if world.choices.once_in(24) {
        // An agent that has run it by itself.
        events.push(ModelEvent::CallResult { slot, content: "\"ran\"".to_owned() });
    }
}
