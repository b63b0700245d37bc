//! A model's answer on its way into the page: the connection, and what reads it. Knows nothing of who is asked.

use futures::future::LocalBoxFuture;
use futures::stream::{LocalBoxStream, StreamExt, unfold};

use crate::browser::fetch::Reply;
use crate::protocol::{ModelError, ModelEvent};

/// What turns bytes into model events.
pub(super) trait Decode {
    fn push(&mut self, bytes: &[u8]);
    fn finish(&mut self);
    fn lost(&mut self) {
        self.finish();
    }
    fn next(&mut self) -> Option<ModelEvent>;
}

/// A connection that is being made.
pub(super) type Opening = LocalBoxFuture<'static, Result<Reply, ModelError>>;

/// The events of the answer that comes over a connection. Dropping them lets go of it.
pub(super) fn answer(opening: Opening, decoder: Box<dyn Decode>) -> LocalBoxStream<'static, ModelEvent> {
    let answer = Answer { opening: Some(opening), decoder, reply: None };
    unfold(answer, |mut answer| async move { answer.next().await.map(|event| (event, answer)) }).boxed_local()
}

struct Answer {
    opening: Option<Opening>,
    decoder: Box<dyn Decode>,
    reply: Option<Reply>,
}

impl Answer {
    async fn next(&mut self) -> Option<ModelEvent> {
        loop {
            if let Some(event) = self.decoder.next() {
                // Nothing is read after an error, however much there is: the connection is let go of.
                if matches!(event, ModelEvent::Error(_)) {
                    self.reply = None;
                }
                return Some(event);
            }
            if let Some(opening) = self.opening.take() {
                match opening.await {
                    Ok(reply) => self.reply = Some(reply),
                    Err(error) => return Some(ModelEvent::Error(error)),
                }
            }
            match self.reply.as_mut()?.chunk().await {
                Ok(Some(bytes)) => self.decoder.push(&bytes),
                Ok(None) => {
                    self.decoder.finish();
                    self.reply = None;
                }
                // A stream cut short: the loop knows what to do about it.
                Err(()) => {
                    self.decoder.lost();
                    self.reply = None;
                }
            }
        }
    }
}
