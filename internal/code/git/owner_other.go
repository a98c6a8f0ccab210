// This file is for systems where files have no numeric owner.

//go:build !unix

package git

// IsOwnPath returns true. On Windows, access lists protect directories, and in a browser there is only
// one user.
func IsOwnPath(string) bool { return true }
