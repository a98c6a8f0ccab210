// This file tests the functions that need Linux.

package sysinfo

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"
)

const mounts = `22 28 0:21 / /proc rw,nosuid,nodev,noexec,relatime shared:12 - proc proc rw
28 1 8:2 / / rw,relatime shared:1 - ext4 /dev/sda2 rw,errors=remount-ro
41 28 0:52 / /mnt/far\040away rw,nosuid,nodev,relatime shared:200 - fuse.sshfs me@host:/ rw,user_id=1000
77 28 0:5 / /mnt/host rw,relatime - virtiofs share rw
short - line
`

func TestMountType(t *testing.T) {
	for _, c := range []struct{ device, want string }{
		{"0:52", "fuse.sshfs"},
		{"0:5", "virtiofs"},
		{"8:2", "ext4"},
		{"9:9", "fuse"},
	} {
		if got := mountTypeOfDevice(mounts, c.device); got != c.want {
			t.Errorf("mountType(…, %q) = %q, want %q", c.device, got, c.want)
		}
	}
}

func TestLookLinux(t *testing.T) {
	f, err := DescribeFileSystem("/proc")
	if err != nil || f.Name != "0x9fa0" || f.Kind != KindUnknownFileSystem {
		t.Errorf("Look(/proc) = %+v, %v, want the number 0x9fa0 of an unknown kind", f, err)
	}
	f, err = DescribeFileSystem(t.TempDir())
	if err != nil || f.Name == "" || f.TotalBytes == 0 || f.FreeBytes > f.TotalBytes || f.IsReadOnly {
		t.Errorf("Look of a temporary directory = %+v, %v, want a name, space, and that it can be written", f, err)
	}
	if f, err := DescribeFileSystem("/dev/shm"); err == nil && f.Name == "tmpfs" && f.Kind != KindInMemoryFileSystem {
		t.Errorf("Look(/dev/shm) = %+v, want it volatile", f)
	}
}

// TestKnownNumbers tests the table of file systems. A file system that other hosts may write to must not count as
// local.
func TestKnownNumbers(t *testing.T) {
	for number, want := range map[uint32]FileSystemKind{
		0x6969: KindNetworkFileSystem, 0xff534d42: KindNetworkFileSystem, 0xfe534d42: KindNetworkFileSystem,
		0x517b:     KindNetworkFileSystem,
		0x01021997: KindSharedFileSystem, 0x01021994: KindInMemoryFileSystem, 0x794c7630: KindOverlayFileSystem,
		0xef53:     KindLocalFileSystem,
		0x58465342: KindLocalFileSystem,
		0x9123683e: KindLocalFileSystem,
	} {
		if got := fileSystems[number].Kind; got != want {
			t.Errorf("file system %#x is %v, want %v", number, got, want)
		}
	}
}

func TestProcess(t *testing.T) {
	if got := ProcessState(os.Getpid()); got != processRunning {
		t.Errorf("Process of this one = %v, want %v", got, processRunning)
	}
	if got := ProcessState(0); got != processUnknown {
		t.Errorf("Process(0) = %v, want %v", got, processUnknown)
	}
	cmd := exec.Command("cat") // The process waits for input.
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Skipf("no cat to look at: %v", err)
	}
	pid := cmd.Process.Pid
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	var ws syscall.WaitStatus
	if _, err := syscall.Wait4(pid, &ws, syscall.WUNTRACED, nil); err != nil || !ws.Stopped() {
		t.Fatalf("Wait4 = %v, %v, want that it stopped", ws, err)
	}
	if got := ProcessState(pid); got != ProcessStopped {
		t.Errorf("Process of a stopped one = %v, want %v", got, ProcessStopped)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatal(err)
	}
	if got := ProcessState(pid); got != ProcessGone {
		t.Errorf("Process of one that ended = %v, want %v", got, ProcessGone)
	}
}

func TestWritable(t *testing.T) {
	dir := t.TempDir()
	if !IsWritable(dir) {
		t.Errorf("IsWritable(%q) = false, want true", dir)
	}
	if os.Geteuid() == 0 {
		return // The superuser may write everywhere.
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	if IsWritable(dir) {
		t.Errorf("Writable of a directory of mode 0500 = true, want false")
	}
}

// TestReadStamp tests that ReadFileStamp returns a different stamp after a file's content was replaced, even if the
// file's size and modification time are the same. For a file without an inode, ReadFileStamp must return false.
func TestReadStamp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	readStamp := func() (os.FileInfo, FileStamp) {
		t.Helper()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		s, ok := ReadFileStamp(info)
		if !ok || s.Size != 3 || s.Inode == 0 || s.ChangeUnixNano == 0 {
			t.Fatalf("ReadStamp() = %+v, %t", s, ok)
		}
		return info, s
	}
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("one")
	info, before := readStamp()
	for after := before; after == before; { // until the clock of the file system has advanced
		write("two")
		if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
			t.Fatal(err)
		}
		_, after = readStamp()
	}
	info, err := fstest.MapFS{"a": {}}.Stat("a")
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := ReadFileStamp(info); ok {
		t.Errorf("ReadStamp() of a file without an inode = %+v", s)
	}
}
