// Owners of files, where they are not looked at.

//go:build !unix

package sysinfo

// ownerOf says nothing: access lists are not looked at.
func ownerOf(string) Owner { return Owner{} }
