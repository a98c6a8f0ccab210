// This file is for systems such as Windows, on which a file has no numeric user ID as its owner.

//go:build !unix

package git

// IsOwnedByUser always returns true, because the owner of a file is not checked on the systems for which this file is
// compiled. On Windows, access lists protect directories. In a browser, there is only one user.
func IsOwnedByUser(string) bool { return true }
