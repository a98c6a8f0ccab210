//go:build js || wasip1

// The fallback for the peers where they do not run.

package main

func otherPeers() []peer { return nil }
