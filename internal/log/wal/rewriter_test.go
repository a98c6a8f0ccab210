// How the tests rewrite a log.

package wal

// Rewrite replaces the log by one that begins at another base and holds the
// records that emit is called with.
func (l *Log) Rewrite(base uint64, chain [32]byte, fill func(emit func(r Record) error) error) error {
	w, err := l.Rewriter(base, chain)
	if err != nil {
		return err
	}
	last := l.seq
	err = fill(func(r Record) error {
		r.Durable = last
		_, err := w.Emit(r)
		return err
	})
	if err == nil {
		err = l.Replace(w)
	}
	if err != nil && l.file != w.file {
		w.Cancel()
	}
	return err
}
