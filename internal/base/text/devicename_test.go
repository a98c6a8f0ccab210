// Tests of file names that Windows reserves.

package text

import "testing"

func TestIsDeviceName(t *testing.T) {
	for name, want := range map[string]bool{
		"CON": true, "con.md": true, "Nul.tar.gz": true, "aux .md": true, "COM0": true, "com9.x": true, "LPT²": true,
		"conin$": true, "CON-2.md": false, "COM10": false, "COM": false, "LPTX": false, "icon": false, "": false,
		".con": false,
	} {
		if got := IsDeviceName(name); got != want {
			t.Errorf("IsDeviceName(%q) = %t, want %t", name, got, want)
		}
	}
}
