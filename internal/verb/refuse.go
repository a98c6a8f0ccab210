// This file refuses to write foreign text into files, because files have no labels.

package verb

import ()

// RepeatsForeignText reports whether a text repeats foreign text that a session has read.
func (w *Workspace) RepeatsForeignText(text string) bool {
	if w.Knowledge == nil {
		return false
	}
	k := w.Knowledge()
	return k.Fingerprints != nil && k.Fingerprints.FindRepeats([]string{text}, nil)[0].IsRepeat()
}
