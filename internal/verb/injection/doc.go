// Package injection implements the verbs about the texts that hooks put before models without a
// call: what a prompt would get, what was shown, the start of a session, and the switch for it.
package injection
