// Package sessions implements the verbs for the archive of sessions (import, list, show, search,
// resume, forget, prune), and the verbs with which a session opens or takes a handoff.
package sessions
