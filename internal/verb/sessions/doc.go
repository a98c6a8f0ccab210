// Package sessions implements the verbs for the archive of sessions: import, list, show, search, resume, forget and
// prune.
package sessions
