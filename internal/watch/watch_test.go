// Several watchers, added and stopped, also during a Send.

package watch

import (
	"slices"
	"testing"
)

func TestList(t *testing.T) {
	var l List[int]
	l.Send(1)
	var a, b []int
	stopA := l.Add(func(e int) { a = append(a, e) })
	var stopB func()
	stopB = l.Add(func(e int) {
		b = append(b, e)
		stopB() // within a Send
	})
	for e := range 3 {
		l.Send(e)
	}
	stopA()
	stopA()
	l.Send(3)
	if !slices.Equal(a, []int{0, 1, 2}) || !slices.Equal(b, []int{0}) || l.Len() != 0 {
		t.Errorf("received %v and %v, %d functions left; want [0 1 2], [0] and none", a, b, l.Len())
	}
}
