// Package sessions implements the verbs for the archive of sessions (import, list, show, search,
// resume, forget, prune).
package sessions
