// SPDX-License-Identifier: GPL-2.0
/*
 * smc_activate - SMC for programs that the preloaded library does not reach:
 * what smc_run(8) starts for --cgroup, --all, --off and --status.
 *
 *	smc_activate [-f] on all | cgroup PATH
 *	smc_activate off [all | cgroup PATH]
 *	smc_activate status
 *
 * Each "on" attaches a BPF program of its own (activate.bpf.c), whose constants
 * are the scope and its rules.  What keeps it attached are files in /sys/fs/bpf:
 * no process has to stay.  Names of these files:
 *
 *	/sys/fs/bpf/smc/all/...			or
 *	/sys/fs/bpf/smc/cgroup-ID/...		ID as the kernel has it
 *	/sys/fs/bpf/smc/new/...			until it is whole
 *		scope		a map, the constants
 *		turned		a map, the number of sockets turned
 *		decide, turn	the links
 *
 * They are made in this order and removed in the other, so that no socket is
 * turned while decide does not keep the module loaded.
 *
 *	SMC_RUN_CONF	file with the rules; "" for none; if not set
 *			/etc/smc_run.conf, which need not be there
 *	SMC_DEBUG	say what libbpf and the kernel's verifier have to say
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "lib/activate.h"
#include "lib/policy.h"

#define FAILED		125		/* as smc_run */
#define CONF_FILE	"/etc/smc_run.conf"
#define BPF_DIR		"/sys/fs/bpf"
#define OUR_DIR		BPF_DIR "/smc"
#define CGROUP_DIR	"/sys/fs/cgroup"
#define CGROUP_HYBRID	CGROUP_DIR "/unified"	/* beside version 1 */
#define KERNFS_HANDLE	0xfe		/* the kernel's FILEID_KERNFS */
#define NAME_LEN	32		/* of a scope, as a directory */
#define NEW		"new"
#define HOOK		"update_socket_protocol"
#define PROTO_SMC	256
#define NOT_SUPPORTED	524		/* the kernel's ENOTSUPP */

_Static_assert(ACTIVATE_RULES == POLICY_MAX &&
	       ACTIVATE_NAMES == POLICY_NAMES &&
	       ACTIVATE_CONNECT == POLICY_CONNECT &&
	       ACTIVATE_LISTEN == POLICY_LISTEN, "they share rules");

/* activate.bpf.o, which is in this program */
__asm__(".pushsection .rodata, \"a\"\n"
	".balign 8\n"
	"activate_object:\n"
	".incbin \"activate.bpf.o\"\n"
	"activate_object_end:\n"
	".popsection\n");

/* In the order in which they are made */
static const char *const pins[] = { "scope", "turned", "decide", "turn" };

#define NUM_PINS	(sizeof(pins) / sizeof(pins[0]))

static struct activate_scope scope;

__attribute__((noreturn, format(printf, 1, 2)))
static void die(const char *fmt, ...)
{
	va_list args;

	fputs("smc_run: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(FAILED);
}

__attribute__((noreturn))
static void no_permission(void)
{
	die("no permission: only root (CAP_BPF and CAP_PERFMON) has the kernel do this");
}

static const char *release(void)
{
	static struct utsname name;

	return uname(&name) ? "?" : name.release;
}

/* -- the scope -- */

static bool is_cgroup(const char *path)
{
	struct statfs fs;

	return !statfs(path, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* @text is a path, or one below /sys/fs/cgroup. */
static bool cgroup_path(const char *text, char path[static PATH_MAX])
{
	char full[PATH_MAX];

	if (realpath(text, path) && is_cgroup(path))
		return true;
	snprintf(full, sizeof(full), CGROUP_DIR "/%s", text);
	return realpath(full, path) && is_cgroup(path);
}

/* On 64 bit the inode is the id. */
static void find_cgroup(const char *text)
{
	char path[PATH_MAX];
	struct stat st;

	if (!cgroup_path(text, path))
		die("--cgroup %s: there is no such cgroup (of version 2)",
		    text);
	if (strlen(path) >= sizeof(scope.path))
		die("--cgroup %s: the path is too long", text);
	if (stat(path, &st) || !S_ISDIR(st.st_mode))
		die("--cgroup %s: not a directory", text);
	strcpy(scope.path, path);
	scope.cgroup = st.st_ino;
}

/*
 * By its id, whatever this process sees of cgroups: the path may be one of
 * another cgroup namespace.  If the kernel does not say, it is there.
 */
static bool is_gone(const struct activate_scope *s)
{
	union {
		struct file_handle h;
		char room[sizeof(struct file_handle) + sizeof(s->cgroup)];
	} handle = {
		.h.handle_bytes = sizeof(s->cgroup),
		.h.handle_type = KERNFS_HANDLE,
	};
	int fd, mount;
	bool gone;

	if (!s->cgroup)
		return false;
	mount = open(is_cgroup(CGROUP_DIR) ? CGROUP_DIR : CGROUP_HYBRID,
		     O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	memcpy(handle.h.f_handle, &s->cgroup, sizeof(s->cgroup));
	fd = open_by_handle_at(mount, &handle.h, O_PATH | O_CLOEXEC);
	gone = fd < 0 && errno == ESTALE;
	if (fd >= 0)
		close(fd);
	if (mount >= 0)
		close(mount);
	return gone;
}

/* The name of its directory */
static void scope_name(char name[static NAME_LEN], const struct activate_scope *s)
{
	if (s->cgroup)
		snprintf(name, NAME_LEN, "cgroup-%llu", s->cgroup);
	else
		snprintf(name, NAME_LEN, "all");
}

/* For people */
static const char *scope_text(const struct activate_scope *s)
{
	static char text[ACTIVATE_PATH + 32];

	if (!s->cgroup)
		return "all programs";
	snprintf(text, sizeof(text), "cgroup %.*s", ACTIVATE_PATH - 1, s->path);
	return text;
}

/* -- rules -- */

static void copy_rule(struct activate_rule *to, const struct policy_rule *from)
{
	unsigned char *mask = (unsigned char *)to->mask;
	unsigned int i;

	to->programs = from->programs;
	to->family = from->family;
	to->low = from->low;
	to->high = from->high;
	to->deny = from->deny;
	to->ops = from->ops;
	memcpy(to->addr, from->addr, sizeof(to->addr));
	for (i = 0; i < from->prefix; i++)
		mask[i / 8] |= 0x80 >> i % 8;
}

static void load_rules(void)
{
	const char *path = getenv("SMC_RUN_CONF");
	static struct policy_names names;
	static struct policy policy;
	unsigned int i;

	if (path && !*path)
		return;
	policy_load_all(&policy, path ? path : CONF_FILE, !path, &names);
	if (policy.broken)
		exit(FAILED);
	for (i = 0; i < policy.num; i++)
		copy_rule(&scope.rules[i], &policy.rules[i]);
	for (i = 0; i < names.num; i++)
		if (activate_compile(&scope.names[i], names.name[i]))
			die("%s: the name of a program is too long: '%s'",
			    path ? path : CONF_FILE, names.name[i]);
	scope.num_rules = policy.num;
	scope.num_names = names.num;
	snprintf(scope.file, sizeof(scope.file), "%s", path ? path : CONF_FILE);
}

/* -- what the kernel can do -- */

/* Ask for what turn() will have programs ask for. */
static bool has_protocol(int family)
{
	int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, PROTO_SMC);

	if (fd < 0)
		return false;
	close(fd);
	return true;
}

static void need_protocol(void)
{
	if (!has_protocol(AF_INET))
		die("this kernel makes no sockets of IPPROTO_SMC: %s",
		    strerror(errno));
	scope.families = has_protocol(AF_INET6) ? 3 : 1;
}

/*
 * The object of a program that TCP is allowed to is a raw IP socket to SELinux,
 * if it asks for IPPROTO_SMC; socket() would fail where it did not before.
 */
static void need_no_selinux(void)
{
	int fd = open("/sys/fs/selinux/enforce", O_RDONLY | O_CLOEXEC);
	char c = '0';

	if (fd < 0)
		return;
	if (read(fd, &c, 1) == 1 && c == '1')
		die("SELinux may forbid confined programs what their sockets would become (rawip_socket), and they would have none; --force if it does not");
	close(fd);
}

static void need_hook(void)
{
	struct btf *btf = btf__load_vmlinux_btf();

	if (!btf)
		die("this kernel (%s) does not describe itself (CONFIG_DEBUG_INFO_BTF), which BPF needs here; use smc_run COMMAND",
		    release());
	if (btf__find_by_name_kind(btf, HOOK, BTF_KIND_FUNC) < 0)
		die("this kernel (%s) lets nothing change the protocol of sockets: " HOOK "() came with Linux 6.6; use smc_run COMMAND",
		    release());
	btf__free(btf);
	if (access("/proc/sys/net/mptcp", F_OK))
		die("this kernel (%s) lets nothing change the protocol of sockets: that needs CONFIG_MPTCP; use smc_run COMMAND",
		    release());
}

__attribute__((noreturn))
static void die_of_load(int err)
{
	if (err == EPERM || err == EACCES)
		no_permission();
	if (scope.num_names && err == EINVAL)
		die("the kernel does not take the BPF program; if it is locked down (confidentiality), rules cannot have names of programs; -d says more");
	die("the kernel does not take the BPF program: %s; -d says more",
	    strerror(err));
}

__attribute__((noreturn))
static void die_of_attach(const char *name, int err)
{
	if (err == ENOENT && !strcmp(name, "decide"))
		die("the module smc that is loaded is not the one of this smc_run (it has no event smc_policy)");
	if (err == NOT_SUPPORTED || err == EOPNOTSUPP)
		die("this kernel cannot attach BPF programs to functions (no JIT compiler, or not on this processor)");
	if (err == E2BIG)
		die("too many BPF programs are attached to %s() (38 at most); use --all, or a cgroup above those that are on",
		    HOOK);
	die("cannot attach %s: %s", name, strerror(err));
}

/* -- files in /sys/fs/bpf -- */

static void pin_path(char path[static PATH_MAX], const char *name,
		     const char *pin)
{
	snprintf(path, PATH_MAX, OUR_DIR "/%s%s%s", name, *pin ? "/" : "", pin);
}

__attribute__((noreturn))
static void die_of_dir(const char *path)
{
	if (errno == EPERM || errno == EACCES)
		no_permission();
	die("%s: %s", path, strerror(errno));
}

static bool is_bpf_dir(void)
{
	struct statfs fs;

	return !statfs(BPF_DIR, &fs) && (__u32)fs.f_type == BPF_FS_MAGIC;
}

static void make_dir(void)
{
	if (!is_bpf_dir() && mount("bpf", BPF_DIR, "bpf", 0, "mode=0700"))
		die_of_dir(BPF_DIR);
	if (mkdir(OUR_DIR, 0700) && errno != EEXIST)
		die_of_dir(OUR_DIR);
}

/*
 * Held until this program ends.  False: there is no directory.  Where all users
 * may write to /sys/fs/bpf, as it is if nothing else is said to mount(2), one of
 * them may have made it, and could remove what is in it.
 */
static bool lock(void)
{
	int fd = open(OUR_DIR,
		      O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;

	if (fd < 0 && errno == ENOENT)
		return false;
	if (fd < 0 || fstat(fd, &st))
		die_of_dir(OUR_DIR);
	if (st.st_uid != geteuid() || st.st_mode & 022)
		die(OUR_DIR " can be changed by others (owner %u, mode %03o); remove it",
		    st.st_uid, st.st_mode & 0777);
	if (flock(fd, LOCK_EX))
		die_of_dir(OUR_DIR);
	return true;
}

/*
 * The last reference is one of ours: a link ends when it is closed, and not some
 * time after its file has gone.  The module can be unloaded when we return.
 */
static void detach(const char *name)
{
	char path[PATH_MAX];
	unsigned int i;
	int fd;

	for (i = NUM_PINS; i--;) {
		pin_path(path, name, pins[i]);
		fd = bpf_obj_get(path);
		if (unlink(path) && errno != ENOENT)
			die_of_dir(path);
		if (fd >= 0)
			close(fd);
	}
	pin_path(path, name, "");
	if (rmdir(path) && errno != ENOENT)
		die_of_dir(path);
}

/* The only value of a pinned map; false: what is there is not whole. */
static bool read_map(const char *name, const char *pin, void *value, size_t size)
{
	struct bpf_map_info info = {};
	__u32 len = sizeof(info), zero = 0;
	char path[PATH_MAX];
	bool ok;
	int fd;

	pin_path(path, name, pin);
	fd = bpf_obj_get(path);
	if (fd < 0)
		return false;
	ok = !bpf_obj_get_info_by_fd(fd, &info, &len) &&
	     info.value_size == size && !bpf_map_lookup_elem(fd, &zero, value);
	close(fd);
	return ok;
}

/* The link that is made last is there. */
static bool is_attached(const char *name)
{
	char path[PATH_MAX];

	pin_path(path, name, pins[NUM_PINS - 1]);
	return !access(path, F_OK);
}

/* Calls @fn for each scope that is there, whole or not. */
static void for_each(void (*fn)(const char *name, bool whole,
				struct activate_scope *s))
{
	DIR *dir = opendir(OUR_DIR);
	struct activate_scope *s = malloc(sizeof(*s));
	struct dirent *entry;
	bool whole;

	if (!dir || !s)
		die_of_dir(OUR_DIR);
	while ((entry = readdir(dir))) {
		if (*entry->d_name == '.')
			continue;
		memset(s, 0, sizeof(*s));
		whole = read_map(entry->d_name, "scope", s, sizeof(*s)) &&
			is_attached(entry->d_name) &&
			strcmp(entry->d_name, NEW);
		fn(entry->d_name, whole, s);
	}
	closedir(dir);
	free(s);
}

/* -- the commands -- */

/* A cgroup that is gone does not come back: its id is never used again. */
static void forget_gone(const char *name, bool whole, struct activate_scope *s)
{
	if (whole && is_gone(s))
		detach(name);
}

static struct bpf_link *attach(struct bpf_object *obj, const char *name)
{
	struct bpf_program *prog;
	struct bpf_link *link;

	prog = bpf_object__find_program_by_name(obj, name);
	link = bpf_program__attach(prog);
	if (!link)
		die_of_attach(name, errno);
	return link;
}

static void pin(int err, const char *what, struct bpf_link *turn)
{
	if (!err)
		return;
	detach(NEW);
	bpf_link__destroy(turn);
	die("cannot make %s in " OUR_DIR ": %s", what, strerror(-err));
}

static struct bpf_object *load(void)
{
	LIBBPF_OPTS(bpf_object_open_opts, opts, .object_name = "smc_activate");
	struct bpf_map *constants;
	struct bpf_object *obj;
	int err;

	obj = bpf_object__open_mem(activate_object,
				   activate_object_end - activate_object,
				   &opts);
	if (!obj)
		die("libbpf does not take the BPF program: %s",
		    strerror(errno));
	constants = bpf_object__find_map_by_name(obj, ".rodata.scope");
	if (!constants ||
	    bpf_map__set_initial_value(constants, &scope, sizeof(scope)))
		die("the BPF program is not the one of this smc_run");
	err = bpf_object__load(obj);
	if (err)
		die_of_load(-err);
	return obj;
}

static void turn_on(void)
{
	char path[PATH_MAX], old[PATH_MAX], name[NAME_LEN];
	struct bpf_link *decide, *turn;
	struct bpf_object *obj = load();
	struct bpf_map *map;

	/* of one that was killed */
	detach(NEW);
	decide = attach(obj, "decide");
	turn = attach(obj, "turn");
	pin_path(path, NEW, "");
	pin(mkdir(path, 0700) ? -errno : 0, "a directory", turn);
	map = bpf_object__find_map_by_name(obj, ".rodata.scope");
	pin_path(path, NEW, "scope");
	pin(bpf_map__pin(map, path), "scope", turn);
	map = bpf_object__find_map_by_name(obj, ".bss");
	pin_path(path, NEW, "turned");
	pin(bpf_map__pin(map, path), "turned", turn);
	pin_path(path, NEW, "decide");
	pin(bpf_link__pin(decide, path), "decide", turn);
	pin_path(path, NEW, "turn");
	pin(bpf_link__pin(turn, path), "turn", turn);
	/* what was attached before, with other rules, ends here */
	scope_name(name, &scope);
	detach(name);
	pin_path(path, NEW, "");
	pin_path(old, name, "");
	pin(rename(path, old) ? -errno : 0, name, turn);
}

static void show(const char *name, bool whole, struct activate_scope *s)
{
	__u64 turned = 0;

	if (!whole) {
		printf("%s: not whole; smc_run --off\n", name);
		return;
	}
	(void)read_map(name, "turned", &turned, sizeof(turned));
	printf("%s%s: %llu sockets", scope_text(s), is_gone(s) ? " (gone)" : "",
	       turned);
	if (s->num_rules)
		printf(", %u rules of %s", s->num_rules, s->file);
	printf("\n");
}

static void turn_off(const char *name, bool whole, struct activate_scope *s)
{
	detach(name);
}

/*
 * What --off is for: the name of a directory, or the path of a cgroup that is gone.
 * In other namespaces of cgroups the path may be that of another one.
 */
static char off_name[NAME_LEN], off_path[PATH_MAX];
static bool off_found;

static void turn_off_one(const char *name, bool whole, struct activate_scope *s)
{
	const char *below = s->path;

	if (!strncmp(below, CGROUP_DIR "/", strlen(CGROUP_DIR "/")))
		below += strlen(CGROUP_DIR "/");
	if (strcmp(name, off_name) &&
	    (!whole || !s->cgroup || (*off_name && !is_gone(s)) ||
	     (strcmp(s->path, off_path) && strcmp(below, off_path))))
		return;
	detach(name);
	off_found = true;
}

static int say(enum libbpf_print_level level, const char *fmt, va_list args)
{
	return vfprintf(stderr, fmt, args);
}

__attribute__((noreturn))
static void usage(void)
{
	die("smc_activate is started by smc_run (--cgroup, --all, --off, --status)");
}

static void on(int argc, char **argv, bool force)
{
	if (argc == 2 && !strcmp(argv[0], "cgroup"))
		find_cgroup(argv[1]);
	else if (argc != 1 || strcmp(argv[0], "all"))
		usage();
	load_rules();
	need_hook();
	need_protocol();
	if (!force)
		need_no_selinux();
	make_dir();
	lock();
	for_each(forget_gone);
	turn_on();
}

/* A cgroup that is gone is known by its path alone. */
static void find_off(const char *text)
{
	struct activate_scope s = {};
	size_t len;
	struct stat st;

	if (cgroup_path(text, off_path) && !stat(off_path, &st)) {
		s.cgroup = st.st_ino;
		scope_name(off_name, &s);
		return;
	}
	if (strncmp(text, CGROUP_DIR "/", strlen(CGROUP_DIR "/")))
		text += strspn(text, "/");
	snprintf(off_path, sizeof(off_path), "%s", text);
	for (len = strlen(off_path); len > 1 && off_path[len - 1] == '/';)
		off_path[--len] = 0;
}

static void off(int argc, char **argv)
{
	if (argc > 2 ||
	    (argc && strcmp(argv[0], argc == 1 ? "all" : "cgroup")))
		usage();
	if (!lock())
		return;
	if (!argc) {
		for_each(turn_off);
		return;
	}
	if (argc == 1)
		scope_name(off_name, &(struct activate_scope){});
	else
		find_off(argv[1]);
	for_each(turn_off_one);
	for_each(forget_gone);
	if (!off_found)
		fprintf(stderr, "smc_run: it was not on for %s\n",
			argc == 1 ? "all programs" : argv[1]);
}

int main(int argc, char **argv)
{
	const char *debug = getenv("SMC_DEBUG");
	bool force = argc > 1 && !strcmp(argv[1], "-f");

	argv += force;
	argc -= force;
	libbpf_set_print(debug && *debug && strcmp(debug, "0") ? say : NULL);
	if (argc > 2 && !strcmp(argv[1], "on")) {
		on(argc - 2, argv + 2, force);
	} else if (argc > 1 && !strcmp(argv[1], "off")) {
		off(argc - 2, argv + 2);
	} else if (argc == 2 && !strcmp(argv[1], "status")) {
		if (lock())
			for_each(show);
	} else {
		usage();
	}
	if (fflush(stdout) || ferror(stdout))
		die("cannot write: %s", strerror(errno));
	return 0;
}
