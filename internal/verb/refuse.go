// This file finds out whether a text that is to be written to a file repeats foreign text. Files cannot record this in
// labels.

package verb

import ()

// RepeatsForeignText reports whether a text repeats a foreign text that a session of this home has read.
func (w *Workspace) RepeatsForeignText(text string) bool {
	if w.Knowledge == nil {
		return false
	}
	k := w.Knowledge()
	return k.Fingerprints != nil && k.Fingerprints.FindRepeats([]string{text}, nil)[0].IsRepeat()
}
