//go:build js || wasip1

// This file stands in for the peers where they do not run.

package main

func otherPeers() []peer { return nil }
