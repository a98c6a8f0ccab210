// Identities of files, on systems that tell none.

//go:build !unix && !windows

package sysinfo

func fileID(string) (volume, node string, born int64) { return "", "", 0 }
