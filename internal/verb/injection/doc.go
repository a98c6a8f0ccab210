// Package injection implements the verbs about the texts that hooks put before models without a
// call. They show the text for a prompt or a session's start, list earlier texts, and switch the
// injection on and off.
package injection
