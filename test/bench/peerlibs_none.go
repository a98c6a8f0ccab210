//go:build js || wasip1

// This file leaves out the peers on platforms without them.

package main

func otherPeers() []peer { return nil }
