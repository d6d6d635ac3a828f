# SPDX-FileCopyrightText: 2026 The adk-history-guard authors
# SPDX-License-Identifier: Apache-2.0
"""The traps of ADK and of its providers that the guard must not fall into.

Each has a short name and one sentence. A test names its trap by the marker
`trap`, a case of `tests/histories` by its key `traps`; `tests/test_traps.py` sees
to it that none is without a test, and none is named that is not here.
"""

from __future__ import annotations

HISTORY = {
    # Ids that repeat.
    "id-taken-by-another-tool": "An id comes again for a call of another tool.",
    "id-used-again-unanswered": "The later use of an id has no response, which its "
    "earlier use hides from ADK's pruning.",
    "id-unanswered-then-used-again": "The earlier use of an id has no response, and "
    "the later one's is taken for it.",
    "one-id-twice-in-an-event": "Two calls of one event share an id; answered in two "
    "events, one response is lost.",
    "one-id-twice-answered-together": "Two calls of one event share an id and are "
    "answered in one event: the request repeats an id.",
    "id-of-another-agent": "Another agent's equal id destroys a pair.",
    "late-result-of-a-reused-id": "The late result of a job goes to the newer call "
    "that took its id.",
    "two-jobs-under-one-id": "Two jobs of two turns share an id; the result of the "
    "first goes to the second.",
    "counter-starts-anew": "A model counts its ids anew in each turn: an equal id is "
    "not the same call.",
    "minted-ids-unchecked": "ADK does not look whether its own ids are unique.",
    # Ids that are missing, or taken off the request.
    "ids-stripped": "ADK takes its own ids off the request before any callback, so "
    "responses of one tool in another order swap unseen.",
    "pending-known-by-event-only": "Which call waits stands on the event, under an id "
    "that the request no longer carries.",
    "ids-on-some-calls": "One call of a turn keeps its id, its sibling's is taken off.",
    "no-ids-one-tool": "Parallel calls of one tool without ids collapse to the last "
    "response.",
    "response-without-id": "A response without the id of its call is dropped with it.",
    "call-without-id": "A call without the id of its response loses it.",
    "call-without-id-or-response": "A call with neither id nor response is sent bare.",
    # Calls without response, responses without call.
    "interrupted": "A call of a broken run is sent bare, or pruned so that two turns "
    "of the user stand side by side.",
    "one-of-two-answered": "Of two parallel calls only one has a response.",
    "signed-call-pruned": "The signed first call has no response and is pruned; its "
    "sibling is sent without any signature.",
    "pending-sent-bare": "A call that waits on purpose is sent without response.",
    "pending-beside-answered": "A waiting call stands beside an answered one.",
    "pending-not-orphaned": "A confirmation or a credential request waits for a "
    "person: its call is neither dropped nor closed.",
    "pending-without-mark": "The mark of a long-running call may be missing, as after "
    "a passage through another process.",
    "many-answers-to-one-call": "Progress, placeholder and final response answer one "
    "call: the last one counts, none is a duplicate to be split.",
    "two-answers-in-an-event": "Two responses with one id in one event are both sent.",
    "answered-later-after-all": "A stand-in beside a response that comes later is one "
    "answer too many.",
    "empty-body-is-an-answer": "A response with an empty body is a response.",
    "orphan-in-the-middle": "A response without call, and the words beside it.",
    "orphan-as-new-message": "The new message answers no call: ADK raises, or drops "
    "it and ends the request with the model.",
    "wrong-name": "A response carries the id of its call and another tool's name.",
    # Order.
    "stored-in-another-order": "Responses are stored in another order than the calls.",
    "response-before-call": "A response is stored before its call; both are dropped.",
    "late-answer-drops-talk": "What stands between a call and the newest response is "
    "left out of the request.",
    "late-answer-leaves-neighbours": "A late response goes home and leaves two turns "
    "of one role side by side.",
    "words-between-call-and-response": "The user speaks between call and response.",
    "two-rounds-in-one-message": "One message answers calls of two turns; ADK looks "
    "at its first response alone.",
    "media-between-responses": "Media of a tool stand between the responses.",
    "words-beside-a-response": "A person answers a call and speaks in one message.",
    "jobs-in-reverse": "Two jobs of one tool are answered in reverse and swap.",
    # Turns and parts.
    "model-speaks-first": "The history starts with the model's words.",
    "call-comes-first": "The history starts with a call.",
    "text-turn-then-call-turn": "A turn of text and a turn of calls side by side.",
    "empty-text": "An empty text beside a call, or beside text.",
    "empty-turn": "A turn of nothing.",
    "summary-comes-first": "A summary of older events starts the request.",
    "summary-over-an-open-job": "A job is answered after a summary covered its call.",
    "summary-cuts-a-round": "A summary ends between two responses of a round.",
    "signature-only-part": "A part with nothing but a signature is not empty.",
    "live-call-without-session": "A call of a live run whose response lacks the mark "
    "of that run.",
    "id-holds-a-signature": "An id carries a signature and must stay byte for byte.",
}
"""What stands in histories, and comes out wrong of ADK's own way to a request."""

MANNERS = {
    "signature-not-demanded": "A placeholder signature on the call of any model.",
    "models-own-objects": "Parts changed in place are the script's or the cache's.",
    "one-id-in-parallel-agents": "Two agents' calls share an id, each named by its own "
    "confirmation.",
    "node-asks-again": "A node chooses its interrupt's id and asks under it again.",
    "call-to-a-task-agent": "An unanswered call to a task agent is work to be done.",
    "taken-for-paused": "A job next to its answer reads as a pause in resumable apps.",
    "event-already-stored": "What is rearranged at an event must not reach the store.",
    "ends-with-the-model": "A request may end with a turn of the model.",
    "equal-is-not-the-same": "A `UserContent` is unequal to the same `Content`.",
    "id-is-a-key": "Confirmations, routes and clients know a call by its id too.",
    "plugins-behind": "What a callback returns cuts off the plugins behind it.",
    "copy-too-late": "A call renamed at its event is two calls to tool and client.",
    "user-turns-joined": "Neighbouring turns of the user are ADK's own doing.",
    "check-that-raises": "Some of ADK's own requests break a rule.",
    "call-comes-back": "A call under an old `adk-` id is the same call again.",
    "stamped-calls": "A plugin stamps ids and refuses those without stamp.",
    "stamped-and-broken-off": "A stamped session that broke off must go on.",
    "provider-id-stays": "An id of the model that repeats must not stay.",
    "partial-and-final-id": "A client answers under the id of the partial event.",
    "unseen-answer": "Another plugin answers for the model.",
    "store-not-written": "Writing the store in a run fails the runner's next write.",
    "shared-with-the-session": "Contents share their objects with the session.",
    "faults-come-wrapped": "ADK wraps what a plugin raises, and not a model's error.",
    "silent-rejection": "A rejection may be an empty answer, which no error tells of.",
    "texts-mislead": "The provider's error names another fault than the one there.",
    "wrapper-hides-the-class": "ADK asks the model's class how to treat ids.",
    "changes-behind-the-plugin": "Later plugins and agents change the request.",
    "same-prefix": "A repaired request must start as the one before, to be cached.",
    "mark-in-the-body": "The mark of a stand-in goes where every backend takes it.",
    "tool-may-have-run": "A missing response does not mean that no tool ran.",
    "rounds-stay-apart": "Responses of two rounds are never one turn.",
    "siblings-unsigned": "Only the first call of a step is signed, or made so.",
    "signatures-stay-in-place": "A signature stays in its part, unjoined.",
    "made-signature-not-stored": "A made-up signature must not reach the session.",
    "ids-from-adks-source": "Durable runners replace ADK's source of ids.",
    "pieces-without-id": "Continued pieces of a call have neither name nor id.",
    "equal-calls-are-two": "Two equal parallel calls are two calls.",
    "aggregator-hands-on": "A partial part is the very part of the final response.",
    "aggregator-drops": "ADK 2.13 drops the second streamed call under one id.",
    "fresh-parts": "An adapter with fresh parts gets two ids for one call.",
    "index-as-id": "LiteLlm streams under the index of the call.",
    "mapped-ids-collide": "Ids made legal may become equal.",
    "provider-formats": "Each provider has a format of ids of its own.",
    "responses-adapter-unpaired": "An adapter invents ids for both sides of a pair.",
    "interactions": "With the Interactions API ids belong to the server.",
    "live": "In a live run ids belong to the server.",
    "filter-cuts-a-round": "A filter of ADK cuts between call and response.",
    "filter-sees-no-ids": "The filter keeps rounds whole by ids, which are off.",
    "media-of-tools": "A plugin of ADK puts media behind the responses.",
    "invented-call": "A plugin of ADK invents a call and its response.",
    "fallback-model": "ADK hands a request on to the model of another provider.",
    "gateway-siblings": "A gateway rebuilds a turn from its signed calls alone.",
}
"""What a guard does to ADK, to other plugins and to providers where it is careless."""

TRAPS = {**HISTORY, **MANNERS}
