// Package history implements the verbs that list new changes, list the sources of an entry, and revert all changes by
// a session, a client or an agent.
package history
