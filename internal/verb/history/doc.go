// Package history implements the verbs that list new changes and the sources of an entry, and that
// revert all changes by a session, a client or an agent.
package history
