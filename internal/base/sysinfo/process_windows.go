// This file examines processes on Windows.

package sysinfo

import (
	"golang.org/x/sys/windows"
)

func processState(pid int) ProcessStatus {
	h, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, uint32(pid))
	switch err {
	case nil:
	case windows.ERROR_INVALID_PARAMETER: // error for a process ID that does not exist
		return StateGone
	case windows.ERROR_ACCESS_DENIED:
		return stateRunning
	default:
		return stateUnknown
	}
	defer windows.CloseHandle(h)
	const stillActive = 259 // STILL_ACTIVE, of GetExitCodeProcess
	var code uint32
	switch err := windows.GetExitCodeProcess(h, &code); {
	case err != nil:
		return stateUnknown
	case code != stillActive:
		return StateGone
	}
	return stateRunning
}

// IsWritable reports whether this user can write the file or create files in the directory.
// It returns true, because this is unknown on Windows.
func IsWritable(string) bool { return true }
