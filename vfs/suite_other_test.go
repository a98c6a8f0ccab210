//go:build !js

// This file says that there is no file system but those of all platforms.

package vfs_test

func ofPlatform() []system { return nil }
