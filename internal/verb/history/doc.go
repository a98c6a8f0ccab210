// Package history implements the verbs that follow changes: the feed of new changes, the sources
// of an entry, and reverting what a session, a client or a period changed.
package history
