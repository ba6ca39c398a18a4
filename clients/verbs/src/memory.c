/*
 * Copyright The Sidewarp Authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Protection domains and memory regions. The sidecar reaches registered memory through the descriptor of /proc/self/mem
 * that the session passed. If the memory is a shared mapping of a file of the volume, the sidecar maps the file itself.
 */
#include "queues.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

enum { TABLE_INITIAL = 64 };

struct memory_region {
  struct ibv_mr base;
  uint64_t generation, region;
};

/* The keys of all regions: open addressing by STag. A slot whose region is 0 is free. */
static struct {
  pthread_mutex_t lock;
  struct key* keys;
  size_t room, count;
  /* Changes when a key is removed, so copies are dropped. */
  _Atomic uint64_t epoch;
  /* Session whose default protection domain is in use. */
  uint64_t default_taken;
} table = {.lock = PTHREAD_MUTEX_INITIALIZER, .epoch = 1};

/* --- Keys --------------------------------------------------------------------------------------------------------- */

static size_t key_place(const struct key* keys, size_t room, uint32_t stag) {
  size_t place = (stag * UINT32_C(2654435761)) & (room - 1);
  while (keys[place].region != 0 && keys[place].stag != stag) {
    place = (place + 1) & (room - 1);
  }
  return place;
}

/* The caller holds the lock, as for key_remove. */
static int key_add(const struct key* key) {
  if (2 * (table.count + 1) > table.room) {
    size_t room = table.room == 0 ? TABLE_INITIAL : 2 * table.room;
    struct key* keys = calloc(room, sizeof *keys);
    if (keys == NULL) {
      return ENOMEM;
    }
    for (size_t i = 0; i < table.room; i++) {
      if (table.keys[i].region != 0) {
        keys[key_place(keys, room, table.keys[i].stag)] = table.keys[i];
      }
    }
    free(table.keys);
    table.keys = keys;
    table.room = room;
  }
  size_t place = key_place(table.keys, table.room, key->stag);
  table.count += table.keys[place].region == 0;
  table.keys[place] = *key;
  return 0;
}

static void key_remove(uint32_t stag, uint64_t region) {
  size_t place = table.room == 0 ? 0 : key_place(table.keys, table.room, stag);
  if (table.room == 0 || region == 0 || table.keys[place].region != region) {
    return;
  }
  table.keys[place].region = 0;
  table.count--;
  /* Moves later keys of the same chain, which ends at a free slot. */
  for (size_t next = (place + 1) & (table.room - 1); table.keys[next].region != 0; next = (next + 1) & (table.room - 1)) {
    struct key key = table.keys[next];
    table.keys[next].region = 0;
    table.keys[key_place(table.keys, table.room, key.stag)] = key;
  }
  atomic_fetch_add(&table.epoch, 1);
}

const struct key* key_find(struct key_cache* cache, uint32_t stag) {
  uint64_t epoch = atomic_load_explicit(&table.epoch, memory_order_acquire);
  struct key* copy = &cache->keys[(stag >> 8 ^ stag) & 7];
  if (cache->epoch != epoch) {
    memset(cache->keys, 0, sizeof cache->keys);
    cache->epoch = epoch;
  }
  if (copy->region == 0 || copy->stag != stag) {
    pthread_mutex_lock(&table.lock);
    if (table.room > 0) {
      *copy = table.keys[key_place(table.keys, table.room, stag)];
    }
    pthread_mutex_unlock(&table.lock);
  }
  return copy->region == 0 || copy->stag != stag ? NULL : copy;
}

/* --- Protection domains ------------------------------------------------------------------------------------------- */

struct ibv_pd* ibv_alloc_pd(struct ibv_context* context) {
  static _Atomic uint32_t handles;
  uint64_t generation = device_generation(context);
  struct domain* domain = calloc(1, sizeof *domain);
  if (domain == NULL) {
    return NULL;
  }
  domain->base.context = context;
  domain->base.handle = ++handles;
  domain->generation = generation;
  int error = session_is_lost(generation) ? ENODEV : 0;
  /* The first domain of a program is the session's default domain, where entries of rings can carry payload. */
  pthread_mutex_lock(&table.lock);
  bool is_default = error == 0 && table.default_taken != generation;
  if (is_default) {
    table.default_taken = generation;
    domain->number = session_device()->domain;
  }
  pthread_mutex_unlock(&table.lock);
  if (error == 0 && !is_default) {
    union record record = {0};
    error = session_call(&record, CONTROL_ALLOCATE_DOMAIN, sizeof record.header);
    domain->number = record.object.object;
  }
  if (error != 0) {
    free(domain);
    errno = error;
    return NULL;
  }
  return &domain->base;
}

int ibv_dealloc_pd(struct ibv_pd* pd) {
  struct domain* domain = (struct domain*)pd;
  int error = 0;
  if (!session_is_lost(domain->generation)) {
    if (atomic_load(&domain->users) > 0) {
      return EBUSY;
    }
    if (domain->number == session_device()->domain) {
      pthread_mutex_lock(&table.lock);
      table.default_taken = 0;
      pthread_mutex_unlock(&table.lock);
    } else {
      union record record = {.object = {.object = domain->number}};
      error = session_call(&record, CONTROL_DEALLOCATE_DOMAIN, sizeof record.object);
      error = error == ENODEV ? 0 : error;
    }
  }
  if (error == 0) {
    free(domain);
  }
  return error;
}

/* --- Mappings ----------------------------------------------------------------------------------------------------- */

/* A line of /proc/self/maps. */
struct mapping {
  uint64_t start, end, offset, inode;
  unsigned major, minor;
  char permissions[5];
  char path[PATH_MAX];
};

/* Kinds of file systems that never wait for another program or machine to bring a page. */
static bool is_local(uint32_t type) {
  static const uint32_t types[] = {
      0x01021994 /* tmpfs */,   0x858458f6 /* ramfs */,     0xef53 /* ext2, ext3, ext4 */, 0x58465342 /* XFS */,
      0x9123683e /* Btrfs */,   0xf2f52010 /* F2FS */,      0x794c7630 /* overlayfs */,    0x958458f6 /* hugetlbfs */,
      0x73717368 /* SquashFS */, 0xe0f5e1e2 /* EROFS */,    0x2fc12fc1 /* ZFS */,          0xca451a4e /* bcachefs */,
      0x52654973 /* ReiserFS */, 0x3153464a /* JFS */,
  };
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    if (types[i] == type) {
      return true;
    }
  }
  return false;
}

/* Memory of the kernel's own file system for shared memory, whose files have no path. */
static bool is_shared_memory(const char* path) {
  static const char* const names[] = {"/dev/zero", "/SYSV", "/memfd:", "/anon_hugepage"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strncmp(path, names[i], strlen(names[i])) == 0) {
      return true;
    }
  }
  return false;
}

/* Returns 0 or an errno, and complains. */
static int check_file(const struct mapping* mapping) {
  struct stat status;
  struct statfs system;
  char path[PATH_MAX];
  if (is_shared_memory(mapping->path)) {
    return 0;
  }
  bool exists = stat(mapping->path, &status) == 0;
  if (exists && !S_ISREG(status.st_mode)) {
    return refuse(EOPNOTSUPP, "Cannot register memory at 0x%llx: %s is a device. Copy the data to ordinary memory.",
                  (unsigned long long)mapping->start, mapping->path);
  }
  /* A file that was removed is of the file system of its directory. */
  strcpy(path, mapping->path);
  while (statfs(path, &system) != 0) {
    char* slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
      return refuse(EOPNOTSUPP,
                    "Cannot register memory at 0x%llx: the file system of %s is unknown. Copy the data to ordinary "
                    "memory.",
                    (unsigned long long)mapping->start, mapping->path);
    }
    *slash = 0;
  }
  if (!is_local((uint32_t)system.f_type)) {
    return refuse(EOPNOTSUPP,
                  "Cannot register memory at 0x%llx: %s is on a file system of type 0x%llx, whose pages may block the "
                  "sidecar. Copy the data to ordinary memory.",
                  (unsigned long long)mapping->start, mapping->path, (unsigned long long)system.f_type);
  }
  return 0;
}

static bool parse_mapping(const char* line, struct mapping* mapping) {
  int position = 0;
  unsigned long long start, end, offset, inode;
  if (sscanf(line, "%llx-%llx %4s %llx %x:%x %llu %n", &start, &end, mapping->permissions, &offset, &mapping->major,
             &mapping->minor, &inode, &position) < 7) {
    return false;
  }
  mapping->start = start;
  mapping->end = end;
  mapping->offset = offset;
  mapping->inode = inode;
  snprintf(mapping->path, sizeof mapping->path, "%s", line + position);
  mapping->path[strcspn(mapping->path, "\n")] = 0;
  return true;
}

/*
 * Fills in the path and the offset if the mapping is a file of the shared volume that still exists. The sidecar maps whole
 * pages.
 */
static bool find_in_volume(const struct mapping* mapping, uint64_t address, struct control_register* request) {
  struct stat status;
  const char* volume = session_volume();
  size_t length = strlen(volume);
  while (length > 0 && volume[length - 1] == '/') {
    length--;
  }
  if (length == 0 || address % (uint64_t)sysconf(_SC_PAGESIZE) != 0 || mapping->permissions[3] != 's' || strncmp(mapping->path, volume, length) != 0 ||
      mapping->path[length] != '/' || strlen(mapping->path + length + 1) > sizeof request->path ||
      stat(mapping->path, &status) != 0 || status.st_ino != mapping->inode ||
      status.st_dev != makedev(mapping->major, mapping->minor)) {
    return false;
  }
  memcpy(request->path, mapping->path + length + 1, strlen(mapping->path + length + 1));
  request->start = mapping->offset + (address - mapping->start);
  return true;
}

/* Checks the mappings of a range, and decides how the sidecar reaches it. Returns 0 or an errno. */
static int examine(uint64_t address, uint64_t length, bool writes, struct control_register* request) {
  struct mapping mapping;
  uint64_t next = address, end = address + length;
  char* line = NULL;
  size_t room = 0;
  int error = 0;
  FILE* maps = fopen("/proc/self/maps", "re");
  if (maps == NULL) {
    return refuse(errno, "Cannot read /proc/self/maps: %s. Registration needs it.", strerror(errno));
  }
  request->backing = CONTROL_BACKING_PROCESS;
  request->start = address;
  while (error == 0 && next < end && getline(&line, &room, maps) > 0) {
    if (!parse_mapping(line, &mapping) || mapping.end <= next) {
      continue;
    }
    if (mapping.start > next) {
      break;
    }
    if (mapping.permissions[0] != 'r' || (writes && mapping.permissions[1] != 'w') ||
        (mapping.inode == 0 && strncmp(mapping.path, "[v", 2) == 0)) {
      error = refuse(EFAULT, "Cannot register memory at 0x%llx: its mapping has %s. %s.", (unsigned long long)next,
                     mapping.permissions,
                     writes ? "Map it writable, or register it without IBV_ACCESS_LOCAL_WRITE" : "Map it readable");
    } else if (mapping.inode != 0 || mapping.path[0] == '/') {
      error = check_file(&mapping);
    }
    if (error == 0 && next == address && mapping.end >= end && find_in_volume(&mapping, address, request)) {
      request->backing = CONTROL_BACKING_FILE;
    }
    next = mapping.end;
  }
  free(line);
  fclose(maps);
  return error != 0   ? error
         : next < end ? refuse(EFAULT, "Cannot register %llu bytes at 0x%llx: nothing is mapped at 0x%llx. Map all of it.",
                               (unsigned long long)length, (unsigned long long)address, (unsigned long long)next)
                      : 0;
}

/* --- Memory regions ----------------------------------------------------------------------------------------------- */

static uint32_t convert_access(unsigned access) {
  uint32_t converted = 0;
  converted |= access & IBV_ACCESS_LOCAL_WRITE ? CONTROL_ACCESS_LOCAL_WRITE : 0;
  converted |= access & IBV_ACCESS_REMOTE_READ ? CONTROL_ACCESS_REMOTE_READ : 0;
  converted |= access & IBV_ACCESS_REMOTE_WRITE ? CONTROL_ACCESS_REMOTE_WRITE : 0;
  converted |= access & IBV_ACCESS_REMOTE_ATOMIC ? CONTROL_ACCESS_REMOTE_ATOMIC : 0;
  return converted;
}

static void deregister(uint64_t region) {
  union record record = {.object = {.object = region}};
  session_call(&record, CONTROL_DEREGISTER, sizeof record.object);
}

static struct ibv_mr* register_region(struct ibv_pd* pd, void* address, size_t length, uint64_t base, unsigned access) {
  struct domain* domain = (struct domain*)pd;
  union record record = {0};
  struct control_register* request = &record.registering;
  const unsigned supported = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                             IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_ZERO_BASED | IBV_ACCESS_HUGETLB |
                             IBV_ACCESS_OPTIONAL_RANGE;
  const unsigned remote_writes = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  int error = 0;
  if (session_is_lost(domain->generation)) {
    error = ENODEV;
  } else if ((access & ~supported) != 0) {
    error = refuse(EOPNOTSUPP, "Cannot register memory with access 0x%x. This device does not have 0x%x.", access,
                   access & ~supported);
  } else if (length == 0 || (uint64_t)(uintptr_t)address + length < length) {
    error = refuse(EINVAL, "Cannot register %zu bytes at %p. Use a length above 0.", length, address);
  } else if ((access & remote_writes) != 0 && (access & IBV_ACCESS_LOCAL_WRITE) == 0) {
    error = refuse(EINVAL, "Cannot register memory that peers write without IBV_ACCESS_LOCAL_WRITE. Add it.");
  } else {
    error = examine((uintptr_t)address, length, (access & IBV_ACCESS_LOCAL_WRITE) != 0, request);
  }
  if (error == 0 && request->backing == CONTROL_BACKING_PROCESS) {
    error = session_memory();
  }
  struct memory_region* region = error == 0 ? calloc(1, sizeof *region) : NULL;
  if (region == NULL) {
    errno = error == 0 ? ENOMEM : error;
    return NULL;
  }
  request->domain = domain->number;
  request->length = length;
  request->base = access & IBV_ACCESS_ZERO_BASED ? 0 : base;
  request->access = convert_access(access);
  struct key key = {.base = request->base,
                    .length = length,
                    .domain = domain->number,
                    .is_address = request->base == (uintptr_t)address};
  error = session_call(&record, CONTROL_REGISTER, sizeof *request);
  if (error == 0) {
    key.region = record.registered.region;
    key.stag = record.registered.stag;
    pthread_mutex_lock(&table.lock);
    error = key_add(&key);
    pthread_mutex_unlock(&table.lock);
    if (error != 0) {
      deregister(key.region);
    }
  }
  if (error != 0) {
    free(region);
    errno = error;
    return NULL;
  }
  region->base = (struct ibv_mr){.context = pd->context,
                                 .pd = pd,
                                 .addr = address,
                                 .length = length,
                                 .handle = (uint32_t)key.region,
                                 .lkey = key.stag,
                                 .rkey = key.stag};
  region->generation = domain->generation;
  region->region = key.region;
  atomic_fetch_add(&domain->users, 1);
  return &region->base;
}

struct ibv_mr* ibv_reg_mr(struct ibv_pd* pd, void* address, size_t length, int access) {
  return register_region(pd, address, length, (uintptr_t)address, (unsigned)access);
}

struct ibv_mr* ibv_reg_mr_iova(struct ibv_pd* pd, void* address, size_t length, uint64_t iova, int access) {
  return register_region(pd, address, length, iova, (unsigned)access);
}

struct ibv_mr* ibv_reg_mr_iova2(struct ibv_pd* pd, void* address, size_t length, uint64_t iova, unsigned access) {
  return register_region(pd, address, length, iova, access);
}

int ibv_dereg_mr(struct ibv_mr* mr) {
  struct memory_region* region = (struct memory_region*)mr;
  if (!session_is_inherited(region->generation)) {
    pthread_mutex_lock(&table.lock);
    key_remove(mr->lkey, region->region);
    pthread_mutex_unlock(&table.lock);
    if (!session_is_lost(region->generation)) {
      deregister(region->region);
    }
    atomic_fetch_sub(&((struct domain*)mr->pd)->users, 1);
  }
  free(region);
  return 0;
}

void memory_after_fork(void) { pthread_mutex_init(&table.lock, NULL); }
