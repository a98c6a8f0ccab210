//go:build js || wasip1

// This file is used on platforms for which the compared search libraries cannot be built. The comparison then lacks
// them.

package main

func otherSearchMethods() []searchMethod { return nil }
