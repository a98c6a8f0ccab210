// Package profiles implements the verbs that list, show, compare, lint and write memory profiles,
// that show what a profile gives an agent at the start, and that start a sub-agent with a profile.
package profiles
