// Package clients has the verbs that set agents' clients up to use a memory, and mirror
// what these remember by themselves.
package clients
