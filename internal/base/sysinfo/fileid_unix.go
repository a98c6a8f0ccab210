// This file reads the identity of a file on Unix.

//go:build unix

package sysinfo

import (
	"fmt"
	"os"
	"syscall"
)

func fileID(path string) (volume, node string, born int64) {
	fi, err := os.Stat(path)
	if err != nil {
		return "", "", 0
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return "", "", 0
	}
	return fmt.Sprintf("%x", uint64(st.Dev)), fmt.Sprintf("%x", uint64(st.Ino)), readCreationUnixNano(path, st)
}
