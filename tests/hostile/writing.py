"""Attempts to change marks, other students' work, the course or the machine."""

from tests.hostile.case import Case

_TRY = """
import os, sys, shutil, ctypes
from pathlib import Path
_done = []
def _try(act):
    try:
        act(); _done.append("done")
    except BaseException as problem:
        _done.append(type(problem).__name__)
{steps}
def causal_mask(size):
    return str(_done)
"""


def _writes(name: str, *steps: str) -> Case:
    return Case(name, {"causal_mask": _TRY.replace("{steps}", "\n".join(f"_try(lambda: {step})" for step in steps))})


CASES = [
    _writes("writes_the_gradebook", "__import__('sqlite3').connect('@COURSE@/gradebook/gradebook.db').executescript('update grade set manual_score = 99')", "Path('@COURSE@/gradebook/gradebook.db').unlink()"),
    _writes("writes_over_a_classmate", "Path('@VICTIM@/01_causal_mask.ipynb').write_text('{}')", "shutil.rmtree('@VICTIM@')", "os.rename('@VICTIM@', '@VICTIM@.gone')"),
    _writes("writes_graded_files", "Path('@COURSE@/gradebook/autograded').mkdir(parents=True)", "Path('@COURSE@/gradebook/feedback/x').write_text('x')"),
    _writes("writes_the_configuration", "Path('@COURSE@/nbgrader_config.py').write_text('x')", "Path('@REPOSITORY@/nbgrader_config.py').open('a').write(' ')"),
    _writes("writes_the_helpers", "Path('@REPOSITORY@/tutor/checks.py').open('a').write(' ')", "next(Path('@REPOSITORY@/tutor/check_examples').rglob('*.json')).unlink()", "os.chmod('@REPOSITORY@/helpers', 0o777)", "os.utime('@REPOSITORY@/tutor/checks.py')"),
    _writes("writes_libraries", "Path(sys.prefix, 'sitecustomize.py').write_text('x')", "Path(torch.__file__).open('a').write(' ')", "Path('/usr/lib/x').write_text('x')"),
    _writes("writes_a_shadow", "Path('torch.py').write_text('raise SystemExit')", "Path('helpers').mkdir()", "Path('sitecustomize.py').write_text('raise SystemExit')", "Path('nbgrader_config.py').write_text('x')"),
    _writes("writes_the_root", "Path('/x').write_text('x')", "Path('/proc/sys/kernel/hostname').write_text('x')", "Path('/dev/shm/x').write_text('x')", "Path('/proc/self/oom_score_adj').write_text('-1000')"),
    _writes("writes_the_supervisor", "open('/proc/1/mem', 'r+b').write(b'x')", "os.kill(1, 9)", "os.kill(1, 19)", "os.kill(1, 2)", "os.kill(1, 15)", "os.kill(os.getppid(), 9)", "os.kill(0, 0)"),
    _writes("mounts", "ctypes.CDLL(None, use_errno=True).mount(b'none', b'/home', b'tmpfs', 0, b'') and 1 / 0", "ctypes.CDLL(None).umount2(b'/home/student', 2) and 1 / 0", "ctypes.CDLL(None).unshare(0x10000000) and 1 / 0", "os.chroot('.')"),
    _writes("takes_rights", "os.setuid(0)", "os.setgroups([0])", "ctypes.CDLL(None).prctl(24, 0, 0, 0, 0) and 1 / 0", "os.setresuid(0, 0, 0)", "__import__('subprocess').run(['su', '-c', 'id'], check=True)", "__import__('resource').setrlimit(__import__('resource').RLIMIT_CPU, (-1, -1))"),
    _writes("makes_devices", "os.mknod('disk', 0o60600, os.makedev(8, 0))", "os.mkfifo('pipe')", "open('/dev/sda', 'rb')", "open('/dev/mem', 'rb')", "open('/dev/kmsg', 'w')", "open('/dev/tty', 'w')"),
    _writes("links_outwards", "os.symlink('@SECRET@', 'x')", "open('x').read()", "os.link('@REPOSITORY@/tutor/checks.py', 'y')", "os.link('/proc/self/exe', 'z')"),
    _writes("escapes_by_a_folder_handle", "os.fchdir(os.open('/', os.O_RDONLY))", "os.chdir('../../..')", "os.open('../../etc/shadow', os.O_RDONLY)", "ctypes.CDLL(None).pivot_root(b'.', b'.') and 1 / 0"),
    _writes("asks_for_kernel_memory", "ctypes.CDLL(None).shmget(0, 1 << 30, 0o1600) < 0 and 1 / 0", "os.memfd_create('x')", "ctypes.CDLL(None).syscall(425, 8, 0) < 0 and 1 / 0", "ctypes.CDLL(None).syscall(321, 0, 0, 0) < 0 and 1 / 0"),
]  # fmt: skip
