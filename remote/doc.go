// Package remote is a store on another machine: [Open] returns an [oxbow.Store]
// whose calls are HTTP requests, and [ProblemOf] makes of an error the document
// that a server answers with.
package remote
