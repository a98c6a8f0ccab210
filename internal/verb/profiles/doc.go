// Package profiles implements the verbs for memory profiles. They list, show, compare, check and write profiles, show
// the text that a profile gives an agent at the start of a session, and start sub-agents with a profile.
package profiles
