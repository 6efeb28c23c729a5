//! Functions of Node without a replacement: they exist, and throw when they are called.
//!
//! A handler that imports `child_process` for a rare case still runs, and a call reports the missing function,
//! at its position. Without these functions the import would fail, and with it the whole file.

/// A module of Node, or the missing part of one.
struct MissingFunctions {
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

const MISSING: &[MissingFunctions] = &[
    MissingFunctions {
        module: "async_hooks",
        why: NOTHING,
        functions: "AsyncLocalStorage AsyncResource createHook executionAsyncId executionAsyncResource triggerAsyncId",
    },
    MissingFunctions {
        module: "buffer",
        why: NOTHING,
        functions: "Blob Buffer File SlowBuffer atob btoa isAscii isUtf8 resolveObjectURL transcode",
    },
    MissingFunctions {
        module: "child_process",
        why: NO_PROGRAMS,
        functions: "ChildProcess exec execFile execFileSync execSync fork spawn spawnSync",
    },
    MissingFunctions {
        module: "cluster",
        why: NO_PROGRAMS,
        functions: "Worker disconnect fork setupMaster setupPrimary",
    },
    MissingFunctions {
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
    MissingFunctions {
        module: "dgram",
        why: NO_SOCKETS,
        functions: "Socket createSocket",
    },
    MissingFunctions {
        module: "diagnostics_channel",
        why: NOTHING,
        functions: "Channel channel hasSubscribers subscribe tracingChannel unsubscribe",
    },
    MissingFunctions {
        module: "dns",
        why: NO_SOCKETS,
        functions: "Resolver getDefaultResultOrder getServers lookup lookupService resolve resolve4 resolve6 resolveAny resolveCaa \
            resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTxt reverse setDefaultResultOrder \
            setServers",
    },
    MissingFunctions {
        module: "dns/promises",
        why: NO_SOCKETS,
        functions: "Resolver getDefaultResultOrder getServers lookup lookupService resolve resolve4 resolve6 resolveAny resolveCaa \
            resolveCname resolveMx resolveNaptr resolveNs resolvePtr resolveSoa resolveSrv resolveTxt reverse setDefaultResultOrder \
            setServers",
    },
    MissingFunctions {
        module: "domain",
        why: NOTHING,
        functions: "Domain create createDomain",
    },
    MissingFunctions {
        module: "events",
        why: NOTHING,
        functions: "EventEmitter EventEmitterAsyncResource addAbortListener getEventListeners getMaxListeners init listenerCount on once \
            setMaxListeners",
    },
    MissingFunctions {
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
    MissingFunctions {
        module: "fs/promises",
        why: WHOLE_FILES,
        functions: "access appendFile chmod chown copyFile cp lchmod lchown link lstat lutimes mkdir mkdtemp open opendir readFile readdir \
            readlink realpath rename rm rmdir stat statfs symlink truncate unlink utimes watch writeFile",
    },
    MissingFunctions {
        module: "http",
        why: NO_SOCKETS,
        functions: "Agent ClientRequest IncomingMessage OutgoingMessage Server ServerResponse createServer get request setMaxIdleHTTPParsers \
            validateHeaderName validateHeaderValue",
    },
    MissingFunctions {
        module: "http2",
        why: NO_SOCKETS,
        functions: "Http2ServerRequest Http2ServerResponse connect createSecureServer createServer getDefaultSettings getPackedSettings \
            getUnpackedSettings performServerHandshake",
    },
    MissingFunctions {
        module: "https",
        why: NO_SOCKETS,
        functions: "Agent Server createServer get request",
    },
    MissingFunctions {
        module: "inspector",
        why: NOT_DEBUGGED,
        functions: "Session close open url waitForDebugger",
    },
    MissingFunctions {
        module: "inspector/promises",
        why: NOT_DEBUGGED,
        functions: "Session close open url waitForDebugger",
    },
    MissingFunctions {
        module: "module",
        why: NOTHING,
        functions: "Module SourceMap createRequire findSourceMap isBuiltin register runMain syncBuiltinESMExports wrap",
    },
    MissingFunctions {
        module: "net",
        why: NO_SOCKETS,
        functions: "BlockList Server Socket SocketAddress Stream connect createConnection createServer getDefaultAutoSelectFamily \
            getDefaultAutoSelectFamilyAttemptTimeout isIP isIPv4 isIPv6 setDefaultAutoSelectFamily \
            setDefaultAutoSelectFamilyAttemptTimeout",
    },
    MissingFunctions {
        module: "os",
        why: NOTHING,
        functions: "arch availableParallelism cpus endianness freemem getPriority homedir hostname loadavg machine networkInterfaces \
            platform release setPriority tmpdir totalmem type uptime userInfo version",
    },
    MissingFunctions {
        module: "path/win32",
        why: NOTHING,
        functions: "basename dirname extname format isAbsolute join matchesGlob normalize parse relative resolve toNamespacedPath",
    },
    MissingFunctions {
        module: "perf_hooks",
        why: NOTHING,
        functions: "Performance PerformanceEntry PerformanceMark PerformanceMeasure PerformanceObserver PerformanceObserverEntryList \
            PerformanceResourceTiming createHistogram monitorEventLoopDelay",
    },
    MissingFunctions {
        module: "punycode",
        why: NOTHING,
        functions: "decode encode toASCII toUnicode",
    },
    MissingFunctions {
        module: "querystring",
        why: NOTHING,
        functions: "decode encode escape parse stringify unescape unescapeBuffer",
    },
    MissingFunctions {
        module: "readline",
        why: NOTHING,
        functions: "Interface clearLine clearScreenDown createInterface cursorTo emitKeypressEvents moveCursor",
    },
    MissingFunctions {
        module: "readline/promises",
        why: NOTHING,
        functions: "Interface Readline createInterface",
    },
    MissingFunctions {
        module: "repl",
        why: NOTHING,
        functions: "REPLServer Recoverable isValidSyntax start writer",
    },
    MissingFunctions {
        module: "sea",
        why: NOTHING,
        functions: "getAsset getAssetAsBlob getRawAsset isSea",
    },
    MissingFunctions {
        module: "stream",
        why: NOTHING,
        functions: "Duplex PassThrough Readable Stream Transform Writable addAbortSignal compose destroy duplexPair finished \
            getDefaultHighWaterMark isDestroyed isDisturbed isErrored isReadable isWritable pipeline setDefaultHighWaterMark",
    },
    MissingFunctions {
        module: "stream/consumers",
        why: NOTHING,
        functions: "arrayBuffer blob buffer json text",
    },
    MissingFunctions {
        module: "stream/promises",
        why: NOTHING,
        functions: "finished pipeline",
    },
    MissingFunctions {
        module: "stream/web",
        why: NOTHING,
        functions: "ByteLengthQueuingStrategy CompressionStream CountQueuingStrategy DecompressionStream ReadableByteStreamController \
            ReadableStream ReadableStreamBYOBReader ReadableStreamBYOBRequest ReadableStreamDefaultController \
            ReadableStreamDefaultReader TextDecoderStream TextEncoderStream TransformStream TransformStreamDefaultController \
            WritableStream WritableStreamDefaultController WritableStreamDefaultWriter",
    },
    MissingFunctions {
        module: "string_decoder",
        why: NOTHING,
        functions: "StringDecoder",
    },
    MissingFunctions {
        module: "test",
        why: NOTHING,
        functions: "after afterEach before beforeEach describe it only run skip suite test todo",
    },
    MissingFunctions {
        module: "test/reporters",
        why: NOTHING,
        functions: "dot junit spec tap",
    },
    MissingFunctions {
        module: "tls",
        why: NO_SOCKETS,
        functions: "SecureContext Server TLSSocket checkServerIdentity connect convertALPNProtocols createSecureContext createSecurePair \
            createServer getCiphers",
    },
    MissingFunctions {
        module: "trace_events",
        why: NOTHING,
        functions: "createTracing getEnabledCategories",
    },
    MissingFunctions {
        module: "tty",
        why: NOTHING,
        functions: "ReadStream WriteStream isatty",
    },
    MissingFunctions {
        module: "url",
        why: NOTHING,
        functions: "URL URLSearchParams Url domainToASCII domainToUnicode fileURLToPath format parse pathToFileURL resolve resolveObject \
            urlToHttpOptions",
    },
    MissingFunctions {
        module: "util",
        why: NOTHING,
        functions: "MIMEParams MIMEType TextDecoder TextEncoder aborted callbackify debug debuglog deprecate format formatWithOptions \
            getSystemErrorMap getSystemErrorName inherits inspect isArray isBoolean isBuffer isDate isDeepStrictEqual isError \
            isFunction isNull isNullOrUndefined isNumber isObject isPrimitive isRegExp isString isSymbol isUndefined log parseArgs \
            parseEnv promisify stripVTControlCharacters styleText toUSVString transferableAbortController transferableAbortSignal",
    },
    MissingFunctions {
        module: "util/types",
        why: NOTHING,
        functions: "isAnyArrayBuffer isArgumentsObject isArrayBuffer isArrayBufferView isAsyncFunction isBigInt64Array isBigIntObject \
            isBigUint64Array isBooleanObject isBoxedPrimitive isCryptoKey isDataView isDate isExternal isFloat32Array isFloat64Array \
            isGeneratorFunction isGeneratorObject isInt16Array isInt32Array isInt8Array isKeyObject isMap isMapIterator \
            isModuleNamespaceObject isNativeError isNumberObject isPromise isProxy isRegExp isSet isSetIterator isSharedArrayBuffer \
            isStringObject isSymbolObject isTypedArray isUint16Array isUint32Array isUint8Array isUint8ClampedArray isWeakMap \
            isWeakSet",
    },
    MissingFunctions {
        module: "v8",
        why: NOTHING,
        functions: "DefaultDeserializer DefaultSerializer Deserializer GCProfiler Serializer cachedDataVersionTag deserialize \
            getHeapCodeStatistics getHeapSnapshot getHeapSpaceStatistics getHeapStatistics queryObjects serialize setFlagsFromString \
            setHeapSnapshotNearHeapLimit stopCoverage takeCoverage writeHeapSnapshot",
    },
    MissingFunctions {
        module: "vm",
        why: "skills can't create other contexts",
        functions: "Script compileFunction createContext createScript isContext measureMemory runInContext runInNewContext runInThisContext",
    },
    MissingFunctions {
        module: "wasi",
        why: NOTHING,
        functions: "WASI",
    },
    MissingFunctions {
        module: "worker_threads",
        why: "skills have one thread",
        functions: "BroadcastChannel MessageChannel MessagePort Worker getEnvironmentData markAsUntransferable moveMessagePortToContext \
            postMessageToThread receiveMessageOnPort setEnvironmentData",
    },
    MissingFunctions {
        module: "zlib",
        why: NOTHING,
        functions: "BrotliCompress BrotliDecompress Deflate DeflateRaw Gunzip Gzip Inflate InflateRaw Unzip brotliCompress \
            brotliCompressSync brotliDecompress brotliDecompressSync crc32 createBrotliCompress createBrotliDecompress createDeflate \
            createDeflateRaw createGunzip createGzip createInflate createInflateRaw createUnzip deflate deflateRaw deflateRawSync \
            deflateSync gunzip gunzipSync gzip gzipSync inflate inflateRaw inflateRawSync inflateSync unzip unzipSync",
    },
    MissingFunctions {
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
    let MissingFunctions {
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

fn find(module: &str) -> Option<&'static MissingFunctions> {
    MISSING.iter().find(|missing| missing.module == module)
}
