// Package remote is a store on another machine: [Open] returns an [oxbow.Store]
// whose calls are HTTP requests, [Handler] serves them, and [ProblemOf] makes of an
// error the document that a server answers with.
//
// # Routes
//
// Below /api/v1/store/, with GET: about, entry?name=, check, stats, position,
// since?position=, log, versions?name=, seqat?time=, asof?seq=. With POST and a
// document of JSON: entries, apply, dryrun, revert, restore. What is one document
// is answered as application/json, what may be long as lines of it with an end
// (application/x-ndjson), and an error as application/problem+json. A field,
// parameter or op that is unknown is refused.
//
// An answer of 200 to a change says that it is durable.
package remote
