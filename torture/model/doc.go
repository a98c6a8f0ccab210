// This file says what the package is for.

// Package model holds the test of the store against plain maps, with all that a
// memory can do, by two openers, with crashes.
package model
