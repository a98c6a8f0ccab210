// This file examines the owner of a file on Unix.

//go:build unix

package sysinfo

import (
	"os"
	"strconv"
	"syscall"
)

func readOwner(path string) (o FileOwner) {
	fi, err := os.Stat(path)
	if err != nil {
		return o
	}
	st, ok := fi.Sys().(*syscall.Stat_t)
	if !ok {
		return o
	}
	o.Mode = fi.Mode().Perm()
	self, uid := os.Geteuid(), int(st.Uid)
	o.IsOtherUser = uid != self && (self != 0 || strconv.Itoa(uid) != os.Getenv("SUDO_UID"))
	// With umask 002, the user is usually the only member of the user's group, so group write permission does no harm.
	private := int(st.Gid) == os.Getegid() && st.Gid == st.Uid
	o.IsWritableByOthers = o.Mode&0o002 != 0 || (o.Mode&0o020 != 0 && !private)
	return o
}
