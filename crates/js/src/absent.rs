//! Functions of Node without a replacement: they exist, and throw when they are called.
//!
//! A handler that imports `child_process` for a rare case still runs, and a call reports what is missing,
//! at its place. Without these functions the import would fail, and with it the whole file.

/// A module of Node, or the missing part of one.
struct Missing {
    module: &'static str,
    /// The reason in the error.
    why: &'static str,
    /// The names of its functions and classes, separated by spaces; existing ones are not replaced.
    functions: &'static str,
}

const NOTHING: &str = "metier has no replacement for it";
const NO_PROGRAMS: &str = "skills can't start programs";
const NO_SOCKETS: &str = "skills can't open sockets; use `fetch`";
const NOT_DEBUGGED: &str = "skills can't be debugged";
const WHOLE_FILES: &str = "the host reads and writes whole files only";

const MISSING: &[Missing] = &[
    Missing {
        module: "async_hooks",
        why: NOTHING,
        functions: "AsyncLocalStorage AsyncResource createHook executionAsyncId executionAsyncResource triggerAsyncId",
    },
    Missing {
        module: "buffer",
        why: NOTHING,
        functions: "Blob Buffer File SlowBuffer atob btoa isAscii isUtf8 resolveObjectURL transcode",
    },
    Missing {
        module: "child_process",
        why: NO_PROGRAMS,
        functions: "ChildProcess exec execFile execFileSync execSync fork spawn spawnSync",
    },
    Missing {
        module: "cluster",
        why: NO_PROGRAMS,
        functions: "Worker disconnect fork setupMaster setupPrimary",
    },
    Missing {
        module: "crypto",
        why: NOTHING,
        functions: "Certificate Cipher Cipheriv Decipher Decipheriv DiffieHellman DiffieHellmanGroup ECDH Hash Hmac KeyObject Sign Verify \
            X509Certificate checkPrime checkPrimeSync createCipher createCipheriv createDecipher createDecipheriv \
            createDiffieHellman createDiffieHellmanGroup createECDH createHash createHmac createPrivateKey createPublicKey \
            createSecretKey createSign createVerify diffieHellman generateKey generateKeyPair generateKeyPairSync generateKeySync \
            generatePrime generatePrimeSync getCipherInfo getCiphers getCurves getDiffieHellman getFips getHashes getRandomValues \
            hash hkdf hkdfSync pbkdf2 pbkdf2Sync privateDecrypt privateEncrypt prng pseudoRandomBytes publicDecrypt publicEncrypt \
            randomBytes randomFill randomFillSync randomInt randomUUID rng scrypt scryptSync secureHeapUsed setEngine setFips sign \
            timingSafeEqual verify",
    },
    Missing {
        module: "dgram",
        why: NO_SOCKETS,
        functions: "Socket createSocket",
    },
    Missing {
        module: "diagnostics_channel",
        why: NOTHING,
        functions: "Channel channel hasSubscribers subscribe tracingChannel unsubscribe",
    },
    Missing {
        module: "dns",
        why: NO_SOCKETS,
        functions: "Resolver getDefaultResultOrder getServers lookup lookupService resolve resolve4 resolve6 resolveAny resolveCaa \
            resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTxt reverse setDefaultResultOrder \
            setServers",
    },
    Missing {
        module: "dns/promises",
        why: NO_SOCKETS,
        functions: "Resolver getDefaultResultOrder getServers lookup lookupService resolve resolve4 resolve6 resolveAny resolveCaa \
            resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTxt reverse setDefaultResultOrder \
            setServers",
    },
    Missing {
        module: "domain",
        why: NOTHING,
        functions: "Domain create createDomain",
    },
    Missing {
        module: "events",
        why: NOTHING,
        functions: "EventEmitter EventEmitterAsyncResource addAbortListener getEventListeners getMaxListeners init listenerCount on once \
            setMaxListeners",
    },
    Missing {
        module: "fs",
        why: WHOLE_FILES,
        functions: "Dir Dirent FileReadStream FileWriteStream ReadStream Stats WriteStream access accessSync appendFile appendFileSync chmod \
            chmodSync chown chownSync close closeSync copyFile copyFileSync cp cpSync createReadStream createWriteStream exists \
            existsSync fchmod fchmodSync fchown fchownSync fdatasync fdatasyncSync fstat fstatSync fsync fsyncSync ftruncate \
            ftruncateSync futimes futimesSync lchown lchownSync link linkSync lstat lstatSync lutimes lutimesSync mkdir mkdirSync \
            mkdtemp mkdtempSync open openAsBlob openSync opendir opendirSync read readFile readFileSync readSync readdir readdirSync \
            readlink readlinkSync readv readvSync realpath realpathSync rename renameSync rm rmSync rmdir rmdirSync stat statSync \
            statfs statfsSync symlink symlinkSync truncate truncateSync unlink unlinkSync unwatchFile utimes utimesSync watch \
            watchFile write writeFile writeFileSync writeSync writev writevSync",
    },
    Missing {
        module: "fs/promises",
        why: WHOLE_FILES,
        functions: "access appendFile chmod chown copyFile cp lchmod lchown link lstat lutimes mkdir mkdtemp open opendir readFile readdir \
            readlink realpath rename rm rmdir stat statfs symlink truncate unlink utimes watch writeFile",
    },
    Missing {
        module: "http",
        why: NO_SOCKETS,
        functions: "Agent ClientRequest IncomingMessage OutgoingMessage Server ServerResponse createServer get request setMaxIdleHTTPParsers \
            validateHeaderName validateHeaderValue",
    },
    Missing {
        module: "http2",
        why: NO_SOCKETS,
        functions: "Http2ServerRequest Http2ServerResponse connect createSecureServer createServer getDefaultSettings getPackedSettings \
            getUnpackedSettings performServerHandshake",
    },
    Missing {
        module: "https",
        why: NO_SOCKETS,
        functions: "Agent Server createServer get request",
    },
    Missing {
        module: "inspector",
        why: NOT_DEBUGGED,
        functions: "Session close open url waitForDebugger",
    },
    Missing {
        module: "inspector/promises",
        why: NOT_DEBUGGED,
        functions: "Session close open url waitForDebugger",
    },
    Missing {
        module: "module",
        why: NOTHING,
        functions: "Module SourceMap createRequire findSourceMap isBuiltin register runMain syncBuiltinESMExports wrap",
    },
    Missing {
        module: "net",
        why: NO_SOCKETS,
        functions: "BlockList Server Socket SocketAddress Stream connect createConnection createServer getDefaultAutoSelectFamily \
            getDefaultAutoSelectFamilyAttemptTimeout isIP isIPv4 isIPv6 setDefaultAutoSelectFamily \
            setDefaultAutoSelectFamilyAttemptTimeout",
    },
    Missing {
        module: "os",
        why: NOTHING,
        functions: "arch availableParallelism cpus endianness freemem getPriority homedir hostname loadavg machine networkInterfaces \
            platform release setPriority tmpdir totalmem type uptime userInfo version",
    },
    Missing {
        module: "path/win32",
        why: NOTHING,
        functions: "basename dirname extname format isAbsolute join matchesGlob normalize parse relative resolve toNamespacedPath",
    },
    Missing {
        module: "perf_hooks",
        why: NOTHING,
        functions: "Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList \
            PerformanceResourceTiming createHistogram monitorEventLoopDelay",
    },
    Missing {
        module: "punycode",
        why: NOTHING,
        functions: "decode encode toASCII toUnicode",
    },
    Missing {
        module: "querystring",
        why: NOTHING,
        functions: "decode encode escape parse stringify unescape unescapeBuffer",
    },
    Missing {
        module: "readline",
        why: NOTHING,
        functions: "Interface clearLine clearScreenDown createInterface cursorTo emitKeypressEvents moveCursor",
    },
    Missing {
        module: "readline/promises",
        why: NOTHING,
        functions: "Interface Readline createInterface",
    },
    Missing {
        module: "repl",
        why: NOTHING,
        functions: "REPLServer Recoverable isValidSyntax start writer",
    },
    Missing {
        module: "sea",
        why: NOTHING,
        functions: "getAsset getAssetAsBlob getRawAsset isSea",
    },
    Missing {
        module: "stream",
        why: NOTHING,
        functions: "Duplex PassThrough Readable Stream Transform Writable addAbortSignal compose destroy duplexPair finished \
            getDefaultHighWaterMark isDestroyed isDisturbed isErrored isReadable isWritable pipeline setDefaultHighWaterMark",
    },
    Missing {
        module: "stream/consumers",
        why: NOTHING,
        functions: "arrayBuffer blob buffer json text",
    },
    Missing {
        module: "stream/promises",
        why: NOTHING,
        functions: "finished pipeline",
    },
    Missing {
        module: "stream/web",
        why: NOTHING,
        functions: "ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy DecompressionStream ReadableByteStreamController \
            ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController \
            ReadableStreamDefaultReader TextDecoderStream TextEncoderStream TransformStream TransformStreamDefaultController \
            WritableStream WritableStreamDefaultController WritableStreamDefaultWriter",
    },
    Missing {
        module: "string_decoder",
        why: NOTHING,
        functions: "StringDecoder",
    },
    Missing {
        module: "test",
        why: NOTHING,
        functions: "after afterEach before beforeEach describe it only run skip suite test todo",
    },
    Missing {
        module: "test/reporters",
        why: NOTHING,
        functions: "dot junit spec tap",
    },
    Missing {
        module: "tls",
        why: NO_SOCKETS,
        functions: "SecureContext Server TLSSocket checkServerIdentity connect convertALPNProtocols createSecureContext createSecurePair \
            createServer getCiphers",
    },
    Missing {
        module: "trace_events",
        why: NOTHING,
        functions: "createTracing getEnabledCategories",
    },
    Missing {
        module: "tty",
        why: NOTHING,
        functions: "ReadStream WriteStream isatty",
    },
    Missing {
        module: "url",
        why: NOTHING,
        functions: "URL URLSearchParams Url domainToASCII domainToUnicode fileURLToPath format parse pathToFileURL resolve resolveObject \
            urlToHttpOptions",
    },
    Missing {
        module: "util",
        why: NOTHING,
        functions: "MIMEParams MIMEType TextDecoder TextEncoder aborted callbackify debug debuglog deprecate format formatWithOptions \
            getSystemErrorMap getSystemErrorName inherits inspect isArray isBoolean isBuffer isDate isDeepStrictEqual isError \
            isFunction isNull isNullOrUndefined isNumber isObject isPrimitive isRegExp isString isSymbol isUndefined log parseArgs \
            parseEnv promisify stripVTControlCharacters styleText toUSVString transferableAbortController transferableAbortSignal",
    },
    Missing {
        module: "util/types",
        why: NOTHING,
        functions: "isAnyArrayBuffer isArgumentsObject isArrayBuffer isArrayBufferView isAsyncFunction isBigInt64Array isBigIntObject \
            isBigUint64Array isBooleanObject isBoxedPrimitive isCryptoKey isDataView isDate isExternal isFloat32Array isFloat64Array \
            isGeneratorFunction isGeneratorObject isInt16Array isInt32Array isInt8Array isKeyObject isMap isMapIterator \
            isModuleNamespaceObject isNativeError isNumberObject isPromise isProxy isRegExp isSet isSetIterator isSharedArrayBuffer \
            isStringObject isSymbolObject isTypedArray isUint16Array isUint32Array isUint8Array isUint8ClampedArray isWeakMap \
            isWeakSet",
    },
    Missing {
        module: "v8",
        why: NOTHING,
        functions: "DefaultDeserializer DefaultSerializer Deserializer GCProfiler Serializer cachedDataVersionTag deserialize \
            getHeapCodeStatistics getHeapSnapshot getHeapSpaceStatistics getHeapStatistics queryObjects serialize setFlagsFromString \
            setHeapSnapshotNearHeapLimit stopCoverage takeCoverage writeHeapSnapshot",
    },
    Missing {
        module: "vm",
        why: "skills can't create other contexts",
        functions: "Script compileFunction createContext createScript isContext measureMemory runInContext runInNewContext runInThisContext",
    },
    Missing {
        module: "wasi",
        why: NOTHING,
        functions: "WASI",
    },
    Missing {
        module: "worker_threads",
        why: "skills have one thread",
        functions: "BroadcastChannel MessageChannel MessagePort Worker getEnvironmentData markAsUntransferable moveMessagePortToContext \
            postMessageToThread receiveMessageOnPort setEnvironmentData",
    },
    Missing {
        module: "zlib",
        why: NOTHING,
        functions: "BrotliCompress BrotliDecompress Deflate DeflateRaw Gunzip Gzip Inflate InflateRaw Unzip brotliCompress \
            brotliCompressSync brotliDecompress brotliDecompressSync crc32 createBrotliCompress createBrotliDecompress createDeflate \
            createDeflateRaw createGunzip createGzip createInflate createInflateRaw createUnzip deflate deflateRaw deflateRawSync \
            deflateSync gunzip gunzipSync gzip gzipSync inflate inflateRaw inflateRawSync inflateSync unzip unzipSync",
    },
    Missing {
        module: "sqlite",
        why: NOTHING,
        functions: "DatabaseSync StatementSync backup",
    },
];

/// Modules that require the prefix `node:`; without it the name means a package.
const ONLY_WITH_PREFIX: &[&str] = &["sea", "sqlite", "test", "test/reporters"];

/// The module of the table for a specifier without `node:`.
pub(crate) fn meant(word: &str) -> Option<&'static str> {
    let (plain, has_prefix) = match word.strip_prefix("node:") {
        Some(plain) => (plain, true),
        None => (word, false),
    };
    let missing = find(plain)?;
    (has_prefix || !ONLY_WITH_PREFIX.contains(&plain)).then_some(missing.module)
}

/// All modules of the table that don't require `node:`.
pub(crate) fn modules() -> impl Iterator<Item = &'static str> {
    let modules = MISSING.iter().map(|missing| missing.module);
    modules.filter(|module| !ONLY_WITH_PREFIX.contains(module))
}

/// Code that adds the missing exports of a module of Node; `None` if it is not in the table.
pub(crate) fn code(module: &str) -> Option<String> {
    let Missing {
        module,
        why,
        functions,
    } = find(module)?;
    Some(format!(
        "\n;(() => {{\n\
         const all = module.exports;\n\
         for (const name of '{functions}'.split(' ')) {{\n\
         if (name in all) continue;\n\
         const message = '`{module}.' + name + '` of Node is not available: ' + {why:?};\n\
         all[name] = function () {{ throw Object.assign(new Error(message), {{ code: 'ERR_METHOD_NOT_IMPLEMENTED' }}); }};\n\
         }}\n\
         }})();\n"
    ))
}

fn find(module: &str) -> Option<&'static Missing> {
    MISSING.iter().find(|missing| missing.module == module)
}
