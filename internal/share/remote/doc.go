// Package remote reads and writes a store on another machine over HTTP. [Open] returns an [oxbow.Store] whose methods
// send HTTP requests, [Handler] serves these requests, and [MakeProblem] converts an error to the
// document with which a server answers.
//
// # Routes
//
// The routes are below /api/v1/store/. With GET: about, entry?name=, check, stats, position,
// since?position=, log, versions?name=, seqat?time=, asof?seq=. With POST and a JSON document:
// entries, apply, dryrun, revert, restore. A short answer is a document of type application/json.
// An answer that may be long consists of JSON lines with an end line (application/x-ndjson). An
// error is an application/problem+json document. Unknown fields, parameters and ops are refused.
//
// If a change is answered with status 200, it is durable.
package remote
