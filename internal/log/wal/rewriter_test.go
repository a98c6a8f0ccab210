// This file contains a method with which tests rewrite a log.

package wal

// Rewrite replaces the log by a log with another base. The new log contains the records that fill passes to emit.
func (l *Log) Rewrite(base uint64, chain [32]byte, fill func(emit func(r Record) error) error) error {
	w, err := l.NewRewriter(base, chain)
	if err != nil {
		return err
	}
	last := l.lastSeq
	err = fill(func(r Record) error {
		r.DurableSeq = last
		_, err := w.AppendRecord(r)
		return err
	})
	if err == nil {
		err = l.ReplaceBy(w)
	}
	if err != nil && l.file != w.file {
		w.Cancel()
	}
	return err
}
