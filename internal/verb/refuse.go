// A text that somebody else wrote must be recognized when it is written. In the memory, a label marks such a text, but
// a file cannot contain labels. Therefore this file finds out whether a text repeats text by others before it is
// written to a file.

package verb

import ()

// RepeatsForeignText reports whether a text repeats text by others, such as a web page, that a session of this home
// has read.
func (w *Workspace) RepeatsForeignText(text string) bool {
	if w.Knowledge == nil {
		return false
	}
	k := w.Knowledge()
	return k.Fingerprints != nil && k.Fingerprints.FindRepeats([]string{text}, nil)[0].IsRepeat()
}
