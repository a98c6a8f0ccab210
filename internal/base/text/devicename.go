// This file recognizes file names that Windows reserves for devices.

package text

import (
	"slices"
	"strings"
)

// reservedDeviceNames lists the names that Windows reserves for devices, besides the numbered ports COM and LPT.
var reservedDeviceNames = []string{"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}

// IsDeviceName reports whether Windows reserves the file name for a device, in any case and with any extension, so
// that a file with this name could not be opened there.
func IsDeviceName(name string) bool {
	base, _, _ := strings.Cut(name, ".")
	base = strings.ToUpper(strings.TrimRight(base, " "))
	if slices.Contains(reservedDeviceNames, base) {
		return true
	}
	number, isPort := strings.CutPrefix(base, "COM")
	if !isPort {
		number, isPort = strings.CutPrefix(base, "LPT")
	}
	return isPort && slices.Contains(devicePortDigits, number)
}

// devicePortDigits lists the numbers in names of serial and parallel ports, such as COM1. Windows also reserves names
// with a superscript digit, such as COM¹.
var devicePortDigits = []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"}
