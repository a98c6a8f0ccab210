// Package injection implements the verbs about injection. Hooks inject texts: they show texts to models, which did not
// call a tool to get the texts. The verbs show the text that a prompt or a session's start would get, list the texts
// that were injected, and switch injection off and on.
package injection
