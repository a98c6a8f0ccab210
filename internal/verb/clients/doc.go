// Package clients implements the verbs that configure agents' clients to use a memory, and that
// import the notes in a client's own memory.
package clients
