/**
 * What a caller becomes whose program runs outside: a program that holds its process until the other has ended, and ends like it.
 * Machine code in the smallest ELF file: there is no compiler, and nothing that it would have to find in a sandbox.
 *
 * It closes every descriptor but the socket `fd`, writes a byte there, and waits for four: an exit code, or 256 + the number of
 * the signal that it sends itself. When the other end is closed it exits with 127. Undefined for other architectures.
 */
export function assembleStub(fd: number, architecture: string): Buffer | undefined {
  if (architecture === "x64") return wrapInElf(Buffer.from(assembleX64(fd)), EM_X86_64);
  if (architecture === "arm64") return wrapInElf(Buffer.from(Uint32Array.from(assembleArm64(fd)).buffer), EM_AARCH64);
  return undefined;
}

function assembleX64(fd: number): readonly number[] {
  const code: number[] = [];
  const emit = (...bytes: readonly number[]) => void code.push(...bytes);
  const emitNumber = (opcode: readonly number[], value: number) => {
    const operand = Buffer.alloc(4);
    operand.writeUInt32LE(value >>> 0);
    emit(...opcode, ...operand);
  };
  const call = (number: number) => {
    emitNumber(MOV_EAX, number);
    emit(...SYSCALL);
  };
  /** Returns a function that makes the jump lead to what comes next. */
  const jump = (opcode: number): (() => void) => {
    emit(opcode, 0);
    const from = code.length;
    return () => {
      code[from - 1] = code.length - from;
    };
  };
  const closeRange = (first: number, last: number) => {
    emitNumber(MOV_EDI, first);
    emitNumber(MOV_ESI, last);
    emitNumber(MOV_EDX, 0);
    call(CLOSE_RANGE);
  };
  const transfer = (number: number, bytes: number) => {
    emitNumber(MOV_EDI, fd);
    emit(0x48, 0x89, 0xe6); // mov rsi, rsp
    emitNumber(MOV_EDX, bytes);
    call(number);
  };
  if (fd > 0) closeRange(0, fd - 1);
  closeRange(fd + 1, 0xffffffff);
  emit(0x48, 0x83, 0xec, 0x10); // sub rsp, 16
  transfer(WRITE, 1);
  const waiting = code.length;
  transfer(READ, 4);
  emit(0x48, 0x83, 0xf8, -EINTR & 0xff); // cmp rax, -EINTR
  emit(JE, (waiting - (code.length + 2)) & 0xff);
  emitNumber(MOV_EDI, 127);
  emit(0x48, 0x83, 0xf8, 0x04); // cmp rax, 4
  const exitIfShort = jump(JNE);
  emit(0x8b, 0x3c, 0x24); // mov edi, [rsp]
  emitNumber([0x81, 0xff], 256); // cmp edi, 256
  const exitIfCode = jump(JB);
  emit(0x89, 0xfb); // mov ebx, edi
  call(GETPID);
  emit(0x89, 0xc7); // mov edi, eax
  emitNumber([0x8d, 0xb3], -256); // lea esi, [rbx - 256]
  call(KILL);
  emitNumber([0x8d, 0xbb], 128 - 256); // lea edi, [rbx - 128], where the signal does not end it
  exitIfShort();
  exitIfCode();
  call(EXIT_GROUP);
  return code;
}

/** asm/unistd_64.h and errno.h of Linux. */
const READ = 0;
const WRITE = 1;
const GETPID = 39;
const KILL = 62;
const EXIT_GROUP = 231;
const CLOSE_RANGE = 436;
const EINTR = 4;

const MOV_EAX = [0xb8];
const MOV_EDX = [0xba];
const MOV_ESI = [0xbe];
const MOV_EDI = [0xbf];
const SYSCALL = [0x0f, 0x05];
const JB = 0x72;
const JE = 0x74;
const JNE = 0x75;

/** Instructions; the calls have the numbers of asm-generic/unistd.h. */
function assembleArm64(fd: number): readonly number[] {
  const code: number[] = [];
  /** movz and movk: the lower and the upper half of 32 bits. */
  const move = (register: number, value: number) => {
    code.push(0xd2800000 | ((value & 0xffff) << 5) | register);
    if (value > 0xffff) code.push(0xf2a00000 | ((value >>> 16) << 5) | register);
  };
  const call = (number: number) => {
    move(8, number);
    code.push(0xd4000001); // svc #0
  };
  const closeRange = (first: number, last: number) => {
    for (const [register, value] of [first, last, 0].entries()) move(register, value);
    call(CLOSE_RANGE);
  };
  const transfer = (number: number, bytes: number) => {
    move(0, fd);
    code.push(0x910003e1); // mov x1, sp
    move(2, bytes);
    call(number);
  };
  /** Returns a function that makes the branch lead to what comes next. */
  const branch = (condition: number): (() => void) => {
    const at = code.push(0x54000000 | condition) - 1;
    return () => {
      code[at]! |= (code.length - at) << 5;
    };
  };
  if (fd > 0) closeRange(0, fd - 1);
  closeRange(fd + 1, 0xffffffff);
  code.push(0xd10043ff); // sub sp, sp, #16
  transfer(64, 1); // write
  const waiting = code.length;
  transfer(63, 4); // read
  code.push(0xb100101f); // cmn x0, #4: EINTR
  code.push(0x54000000 | (((waiting - code.length) & 0x7ffff) << 5)); // b.eq waiting
  code.push(0xf100101f); // cmp x0, #4
  move(19, 127);
  const exitIfShort = branch(IF_NOT_EQUAL);
  code.push(0xb94003f3); // ldr w19, [sp]
  code.push(0x7104027f); // cmp w19, #256
  const exitIfCode = branch(IF_LOWER);
  call(172); // getpid
  code.push(0x51040261); // sub w1, w19, #256
  call(129); // kill
  code.push(0x51020273); // sub w19, w19, #128, where the signal does not end it
  exitIfShort();
  exitIfCode();
  code.push(0xaa1303e0); // mov x0, x19
  call(94); // exit_group
  return code.map((instruction) => instruction >>> 0);
}

const IF_NOT_EQUAL = 1;
const IF_LOWER = 3;

/** `Elf64_Ehdr` and one `Elf64_Phdr` of elf.h. */
const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const LOADED_AT = 0x400000n;
/** The largest page of either architecture. */
const PAGE_BYTES = 65_536n;
const EM_X86_64 = 62;
const EM_AARCH64 = 183;

/** A static program with one segment, which is read and executed. */
function wrapInElf(code: Buffer, machine: number): Buffer {
  const entry = HEADER_BYTES + SEGMENT_BYTES;
  const file = Buffer.concat([Buffer.alloc(entry), code]);
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]); // magic, 64 bits, little endian, version
  file.writeUInt16LE(2, 16); // ET_EXEC
  file.writeUInt16LE(machine, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(LOADED_AT + BigInt(entry), 24);
  file.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  file.writeUInt16LE(HEADER_BYTES, 52);
  file.writeUInt16LE(SEGMENT_BYTES, 54);
  file.writeUInt16LE(1, 56);
  file.writeUInt32LE(1, HEADER_BYTES); // PT_LOAD
  file.writeUInt32LE(5, HEADER_BYTES + 4); // PF_R | PF_X
  file.writeBigUInt64LE(LOADED_AT, HEADER_BYTES + 16);
  file.writeBigUInt64LE(LOADED_AT, HEADER_BYTES + 24);
  file.writeBigUInt64LE(BigInt(file.length), HEADER_BYTES + 32);
  file.writeBigUInt64LE(BigInt(file.length), HEADER_BYTES + 40);
  file.writeBigUInt64LE(PAGE_BYTES, HEADER_BYTES + 48);
  return file;
}
