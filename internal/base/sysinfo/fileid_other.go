// This file is for systems that do not identify files.

//go:build !unix && !windows

package sysinfo

func fileID(string) (volume, node string, born int64) { return "", "", 0 }
