// This file refuses to write foreign text into files, because files have no labels.

package verb

import ()

// RepeatsOthers reports whether a text repeats foreign text that a session has read.
func (w *Workspace) RepeatsOthers(text string) bool {
	if w.Knowledge == nil {
		return false
	}
	k := w.Knowledge()
	return k.Prints != nil && k.Prints.Find([]string{text}, nil)[0].IsRepeat()
}
