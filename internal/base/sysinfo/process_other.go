//go:build !unix && !windows

// This file is for platforms without processes.

package sysinfo

func processState(int) ProcessStatus { return processUnknown }

// IsWritable always returns true, because platforms other than Unix and Windows do not show whether this user can write
// the file or create files in the directory.
func IsWritable(string) bool { return true }
