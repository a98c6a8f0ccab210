// This file is for systems on which a file lacks a numeric owner.

//go:build !unix

package git

// IsOwnPath returns true. On Windows, access lists protect directories. In a browser there is only one user.
func IsOwnPath(string) bool { return true }
